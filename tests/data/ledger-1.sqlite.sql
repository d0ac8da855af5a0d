CREATE TABLE pages (
    source VARCHAR(64) NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,
    found_on TEXT,
    visited_pass INTEGER NOT NULL,
    fetch VARCHAR(16) NOT NULL,
    reason VARCHAR(32),
    detail TEXT,
    status INTEGER,
    etag TEXT,
    last_modified TEXT,
    content_type TEXT,
    body_hash VARCHAR(64),
    body_bytes BIGINT,
    fetched_at DATETIME,
    alias_of TEXT,
    missing_passes INTEGER NOT NULL,
    verdicts VARCHAR(64) DEFAULT '' NOT NULL,
    wanted TEXT,
    "indexed" TEXT,
    failed TEXT,
    indexed_at DATETIME,
    document_hash VARCHAR(64),
    title TEXT,
    chunks INTEGER NOT NULL,
    lease TEXT,
    attempts INTEGER NOT NULL,
    PRIMARY KEY (source, url)
);
CREATE INDEX pages_alias ON pages (source, alias_of);
CREATE INDEX pages_body ON pages (source, body_hash);
CREATE INDEX pages_frontier ON pages (source, visited_pass, depth, url);
CREATE INDEX pages_to_do ON pages (source, url) WHERE wanted IS DISTINCT FROM indexed AND (failed IS NULL OR failed <> wanted);
CREATE TABLE schema (
    version INTEGER NOT NULL
);
CREATE TABLE sources (
    name VARCHAR(64) NOT NULL,
    customer VARCHAR(64) NOT NULL,
    scope JSON NOT NULL,
    pins JSON NOT NULL,
    build INTEGER NOT NULL,
    created_at DATETIME NOT NULL,
    pass_number INTEGER NOT NULL,
    pass_open BOOLEAN NOT NULL,
    pass_ended_at DATETIME,
    verdicts VARCHAR(64) NOT NULL,
    settled_verdicts VARCHAR(64) NOT NULL,
    runner TEXT,
    runner_until DATETIME,
    PRIMARY KEY (name)
);
CREATE INDEX ix_sources_customer ON sources (customer);
CREATE TABLE usage (
    customer VARCHAR(64) NOT NULL,
    day VARCHAR(10) NOT NULL,
    what VARCHAR(32) NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (customer, day, what)
);
INSERT INTO schema VALUES (1);
