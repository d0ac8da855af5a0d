"""What a page's head and address say about what kind of page it is."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from chunker.html.region_features import Page

#: Kinds of page as schema.org, Open Graph and generator tags name them; a bit each.
TYPES: tuple[str, ...] = (
    r"\"@type\"\s*:\s*\[?\s*\"(?:Product|ProductGroup)\"",
    r"\"@type\"\s*:\s*\[?\s*\"(?:\w*Article|BlogPosting|Report)\"",
    r"\"@type\"\s*:\s*\[?\s*\"(?:DiscussionForumPosting|QAPage|SocialMediaPosting)\"",
    r"\"@type\"\s*:\s*\[?\s*\"(?:CollectionPage|ItemList|OfferCatalog)\"",
    r"\"@type\"\s*:\s*\[?\s*\"(?:FAQPage|HowTo|Question)\"",
    r"\"@type\"\s*:\s*\[?\s*\"(?:Service|LocalBusiness|ProfessionalService|Course|Event)\"",
    r"\"@type\"\s*:\s*\[?\s*\"BreadcrumbList\"",
    r"\"@type\"\s*:\s*\[?\s*\"(?:Review|AggregateRating)\"",
)
_TYPES = [re.compile(pattern) for pattern in TYPES]
_OPEN_GRAPH = ("article", "product", "website", "object")
_GENERATORS = re.compile(
    r"(?P<forum>discourse|xenforo|phpbb|vbulletin|invision|nodebb|vanilla|flarum|mybb|simplemach)"
    r"|(?P<docs>sphinx|mkdocs|docusaurus|gitbook|hugo|jekyll|asciidoc|doxygen|mediawiki|vitepress)"
    r"|(?P<shop>shopify|woocommerce|magento|prestashop|bigcommerce|opencart)"
    r"|(?P<site>wordpress|drupal|joomla|wix|squarespace|webflow|typo3|hubspot)",
    re.I,
)
_GENERATOR_BITS = {"forum": 12, "docs": 13, "shop": 14, "site": 15}
#: Words of a URL's path, a bit a group.
ADDRESS: tuple[str, ...] = (
    r"product|item|/p/|/dp/|/itm/|/pd/|\bsku",
    r"collection|categor|/c/|/b/|shop\b|store\b|browse|catalog",
    r"forum|thread|topic|/t/|community|discussion|viewtopic|showthread|/questions?/",
    r"docs?\b|documentation|reference|guide|manual|api\b|tutorial|learn|wiki|help|support",
    r"blog|news|article|post|story|/20\d\d/",
    r"service|solution|pricing|about|program|course|consult|plans",
    r"tag|topics|archive|author|search|page|list|directory|jobs|events|index|latest",
    r"\.html?$|\.php|\.aspx?",
    r"\d{4,}",
)
_ADDRESS = [re.compile(pattern, re.I) for pattern in ADDRESS]


def page_of(tree: LexborHTMLParser, url: str) -> Page:
    """Title, description, and the kinds of page that head and address hint at."""
    types = 0
    title = description = ""
    for node in tree.css("title, meta[property], meta[name], script[type='application/ld+json']"):
        if node.tag == "title":
            title = title or node.text()
            continue
        if node.tag == "script":
            text = node.text()[:200_000]
            for bit, pattern in enumerate(_TYPES):
                if pattern.search(text):
                    types |= 1 << bit
            continue
        attributes = node.attributes
        name = (attributes.get("property") or attributes.get("name") or "").lower()
        content = attributes.get("content") or ""
        if name == "og:type":
            for bit, kind in enumerate(_OPEN_GRAPH, 8):
                if kind in content.lower():
                    types |= 1 << bit
        elif name == "og:title":
            title = content or title
        elif name in {"description", "og:description"}:
            description = description or content
        elif name == "generator":
            match = _GENERATORS.search(content)
            if match:
                types |= 1 << _GENERATOR_BITS[match.lastgroup or "site"]
    path = urlsplit(url).path
    address = sum(1 << bit for bit, pattern in enumerate(_ADDRESS) if pattern.search(path))
    return Page(title[:300], description[:600], types, address, path.strip("/").count("/") + 1)
