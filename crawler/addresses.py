"""Which addresses are never connected to, and the resolver that sees to it.

The check stands where names become addresses for a connection: every way of writing an address
(decimal, octal, IPv6-mapped) has become one by then, every hop of a redirect passes it, and a name
that resolves differently the second time is checked the second time. Ranges: the IANA registries of
special-purpose addresses (RFC 6890), and addresses inside IPv6 ones (RFC 4291, 3056, 4380, 6052).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from scrapy.resolver import CachingHostnameResolver
from twisted.internet.interfaces import IHostResolution, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]

Address = IPv4Address | IPv6Address

#: Special ranges that `ipaddress` takes for global, and single addresses that answer with a
#: machine's credentials in some clouds though they lie in public space.
SPECIAL = tuple(
    ip_network(text)
    for text in (
        "192.0.0.0/24",  # IETF protocol assignments
        "168.63.129.16/32",  # Azure's platform service
        "192.88.99.0/24",  # former 6to4 relays (RFC 7526)
        "64:ff9b:1::/48",  # local NAT64 (RFC 8215)
        "3fff::/20",  # documentation (RFC 9637)
        "5f00::/16",  # SRv6 segment ids (RFC 9602)
        "fec0::/10",  # former site-local (RFC 3879)
    )
)
NAT64 = ip_network("64:ff9b::/96")
COMPATIBLE = ip_network("::/96")


def is_public(address: str) -> bool:
    """Whether an address, as numbers, belongs to the public Internet: it and what is inside it."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(_is_public(one) for one in (parsed, *_inside(parsed)))


def _is_public(address: Address) -> bool:
    if _mapped(address):
        # Judged by the address that it stands for.
        return True
    special = any(address in network for network in SPECIAL if network.version == address.version)
    return address.is_global and not address.is_multicast and not special


def _mapped(address: Address) -> bool:
    return isinstance(address, IPv6Address) and (
        address.ipv4_mapped is not None or address in NAT64
    )


def _inside(address: Address) -> Iterator[IPv4Address]:
    if not isinstance(address, IPv6Address):
        return
    for inner in (address.ipv4_mapped, address.sixtofour, *(address.teredo or ())):
        if inner is not None:
            yield inner
    if address in NAT64 or address in COMPATIBLE:
        yield IPv4Address(int(address) & 0xFFFFFFFF)


@implementer(IResolutionReceiver)
class _Guard:
    """Passes on the addresses that may be connected to, and tells the resolver of the others."""

    def __init__(self, receiver: Any, name: str, resolver: GuardedResolver) -> None:
        self._receiver = receiver
        self._name = name
        self._resolver = resolver

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: N802 (Twisted's interface)
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:  # noqa: N802
        if self._resolver.may_connect(self._name, address.host):
            self._receiver.addressResolved(address)
        else:
            self._resolver.refused[_key(self._name)] = address.host

    def resolutionComplete(self) -> None:  # noqa: N802
        self._receiver.resolutionComplete()


class GuardedResolver(CachingHostnameResolver):
    """Scrapy's caching resolver, which gives out no address that must not be connected to."""

    def __init__(self, reactor: Any, cache_size: int, allow_hosts: Iterable[str]) -> None:
        super().__init__(reactor, cache_size)
        self._allowed = frozenset(_key(name) for name in allow_hosts)
        self.refused: dict[str, str] = {}
        """Host names that had such an address, with one of them."""

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> GuardedResolver:
        settings = crawler.settings
        return cls(reactor, settings.getint("DNSCACHE_SIZE"), settings.getlist("ALLOW_HOSTS"))

    def may_connect(self, name: str, address: str) -> bool:
        return _key(name) in self._allowed or is_public(address)

    def refusal(self, name: str) -> str | None:
        """The forbidden address that a host name led to, if it did."""
        return self.refused.get(_key(name))

    def resolveHostName(  # noqa: N802
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        *args: Any,
        **kwargs: Any,
    ) -> IHostResolution:
        guard: Any = _Guard(resolutionReceiver, hostName, self)
        return super().resolveHostName(guard, hostName, *args, **kwargs)


def _key(name: str) -> str:
    """One form of a host name: lower case, no brackets, IDNA."""
    bare = name.strip("[]").rstrip(".").lower()
    try:
        return bare if bare.isascii() else bare.encode("idna").decode("ascii")
    except UnicodeError:
        return bare
