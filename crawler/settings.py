"""Every Scrapy setting that a crawl sets, in one list; `for_crawl` adds what the source decides."""

from __future__ import annotations

import re
from typing import Any

from crawler.access import Access, hosts_of, is_encrypted
from crawler.model import Politeness, Scope
from crawler.urls import from_name, host

#: Requests of one crawl at a time over all its hosts, as a multiple of those to one host.
HOSTS_AT_ONCE = 2

SETTINGS: dict[str, Any] = {
    "LOG_LEVEL": "WARNING",
    "LOG_INSTALL_ROOT_HANDLER": False,
    # Parts that are not used would cost time, open ports or keep state. The spider decides on
    # every status, URL and depth itself.
    "SPIDER_MIDDLEWARES": {
        "scrapy.spidermiddlewares.start.StartSpiderMiddleware": None,
        "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": None,
        "scrapy.spidermiddlewares.referer.RefererMiddleware": None,
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
        "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
        "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware": None,
    },
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "crawler.robots.RobotsMiddleware": 100,
        "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
        "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
        "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
        "crawler.redirects.FileRedirectMiddleware": 600,
        "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None,
        "crawler.access.AccessMiddleware": 700,
        "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware": None,
        "scrapy.downloadermiddlewares.stats.DownloaderStats": None,
        "scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware": None,
        "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
        "crawler.compression.DecompressionMiddleware": 590,
    },
    "EXTENSIONS": {
        "crawler.media.StopMedia": 100,
        "scrapy.extensions.corestats.CoreStats": None,
        "scrapy.extensions.logcount.LogCount": None,
        "scrapy.extensions.telnet.TelnetConsole": None,
        "scrapy.extensions.memusage.MemoryUsage": None,
        "scrapy.extensions.memdebug.MemoryDebugger": None,
        "scrapy.extensions.closespider.CloseSpider": None,
        "scrapy.extensions.feedexport.FeedExporter": None,
        "scrapy.extensions.logstats.LogStats": None,
        "scrapy.extensions.spiderstate.SpiderState": None,
        "scrapy.extensions.remote_control.RemoteControl": None,
    },
    "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
    # Scrapy starts as many workers for each response as it may handle items of; there are none.
    "CONCURRENT_ITEMS": 1,
    "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
    # Where the connection is made.
    "DOWNLOAD_HANDLERS": {
        "http": "crawler.download.GuardedHandler",
        "https": "crawler.download.GuardedHandler",
        "data": None,
        "file": None,
        "ftp": None,
        "s3": None,
    },
    "TWISTED_DNS_RESOLVER": "crawler.addresses.GuardedResolver",
    # Politeness.
    "DOWNLOAD_DELAY_JITTER": 0.0,
    "AUTOTHROTTLE_ENABLED": True,
    "AUTOTHROTTLE_START_DELAY": 0.25,
    "AUTOTHROTTLE_MAX_DELAY": 30.0,
    # Failures.
    "RETRY_TIMES": 2,
    "REDIRECT_MAX_TIMES": 5,  # of robots.txt (RFC 9309, 2.3.1.2) and sitemaps; pages hop by tasks
    "DOWNLOAD_WARNSIZE": 0,
    "RETRY_GIVE_UP_LOG_LEVEL": "DEBUG",
    "DEFAULT_REQUEST_HEADERS": {
        "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.9,*/*;q=0.5",
    },
}


def agent_token(user_agent: str) -> str:
    """The product token that robots.txt and robots tags call a crawler by (RFC 9309, 2.2.1)."""
    token = re.match(r"[A-Za-z_-]+", user_agent)
    return token.group().lower() if token else "*"


def allowed_names(scope: Scope) -> tuple[str, ...]:
    """The names in `allow_hosts`, without ports."""
    return tuple(host(from_name(name)) for name in scope.allow_hosts)


def _proxies(access: Access | None) -> tuple[str, ...]:
    """The name of the proxy: the operator's own, it may be a private host."""
    return (host(access.proxy),) if access is not None and access.proxy else ()


def for_crawl(scope: Scope, politeness: Politeness, access: Access | None = None) -> dict[str, Any]:
    """The settings of one crawl."""
    fast = {"concurrency": politeness.concurrency_per_host, "delay": politeness.delay}
    headers = SETTINGS["DEFAULT_REQUEST_HEADERS"]
    if politeness.language is not None:
        headers = headers | {"Accept-Language": politeness.language}
    return {
        **SETTINGS,
        "DEFAULT_REQUEST_HEADERS": headers,
        "USER_AGENT": politeness.user_agent,
        "ROBOTSTXT_USER_AGENT": agent_token(politeness.user_agent),
        "ROBOTSTXT_OBEY": politeness.obey_robots,
        "CONCURRENT_REQUESTS": HOSTS_AT_ONCE * politeness.concurrency_per_host,
        "CONCURRENT_REQUESTS_PER_DOMAIN": politeness.concurrency_per_host,
        "DOWNLOAD_DELAY": politeness.delay,
        "DOWNLOAD_TIMEOUT": politeness.timeout,
        "DOWNLOAD_MAXSIZE": politeness.max_body_bytes,
        "DOWNLOAD_VERIFY_CERTIFICATES": politeness.verify_tls,
        "AUTOTHROTTLE_TARGET_CONCURRENCY": float(politeness.concurrency_per_host),
        "ALLOW_HOSTS": [*allowed_names(scope), *_proxies(access)],
        "ACCESS": access,
        "ACCESS_ENCRYPTED": is_encrypted(scope.seeds),
        "ACCESS_HOSTS": sorted(hosts_of(scope.seeds, scope.hosts)),
        # AutoThrottle starts every host slowly; named private ones are the user's own.
        "DOWNLOAD_SLOTS": {name: dict(fast) for name in allowed_names(scope)},
    }
