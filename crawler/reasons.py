"""The fixed words that say why a URL is no page of its source.

A word stands in exactly one of the three sets below: `ELSEWHERE` (the URL is another name of a
page), `SKIPPED` (a rule says so, nothing is wrong), `FAILED` (somebody or time has to help).
"""

# Another name.
REDIRECT = "redirect"

# Decided before asking.
BAD_SCHEME = "bad_scheme"
BAD_URL = "bad_url"
TOO_LONG = "too_long"
OUT_OF_SCOPE = "out_of_scope"
EXCLUDED = "excluded"
NOT_INCLUDED = "not_included"
TOO_DEEP = "too_deep"
TRAP = "trap"
NOFOLLOW = "nofollow"
ROBOTS = "robots"

# Decided on the answer.
FILE_TYPE = "file_type"
EMPTY = "empty"
TOO_LARGE = "too_large"
NOT_FOUND = "not_found"
SOFT_404 = "soft404"
LOGIN = "login"
GONE = "gone"
DENIED = "denied"

# Failures.
FORBIDDEN_ADDRESS = "forbidden_address"
ROBOTS_UNAVAILABLE = "robots_unavailable"
REDIRECT_LOOP = "redirect_loop"
CLIENT_ERROR = "client_error"
SERVER_ERROR = "server_error"
RATE_LIMITED = "rate_limited"
DNS = "dns"
CONNECT = "connect"
CONNECTION_LOST = "connection_lost"
TLS = "tls"
TIMEOUT = "timeout"
TRUNCATED = "truncated"
BROKEN_BODY = "broken_body"
ERROR = "error"

ELSEWHERE = frozenset({REDIRECT})
#: Those of `SKIPPED` that a scope's rules decide from the URL alone: another scope may undo them.
BY_SCOPE = frozenset(
    {BAD_SCHEME, TOO_LONG, OUT_OF_SCOPE, EXCLUDED, NOT_INCLUDED, TOO_DEEP, FILE_TYPE}
)
SKIPPED = frozenset(
    {
        BAD_SCHEME,
        BAD_URL,
        TOO_LONG,
        OUT_OF_SCOPE,
        EXCLUDED,
        NOT_INCLUDED,
        TOO_DEEP,
        TRAP,
        NOFOLLOW,
        ROBOTS,
        FILE_TYPE,
        EMPTY,
        TOO_LARGE,
        NOT_FOUND,
        SOFT_404,
        LOGIN,
        GONE,
        DENIED,
    }
)
FAILED = frozenset(
    {
        FORBIDDEN_ADDRESS,
        ROBOTS_UNAVAILABLE,
        REDIRECT_LOOP,
        CLIENT_ERROR,
        SERVER_ERROR,
        RATE_LIMITED,
        DNS,
        CONNECT,
        CONNECTION_LOST,
        TLS,
        TIMEOUT,
        TRUNCATED,
        BROKEN_BODY,
        ERROR,
    }
)
