//! Which addresses may be spoken to: one table for whatever goes out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};

/// What may be reached: public addresses, and what is named besides.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reach {
    public: bool,
    loopback: bool,
    hosts: Vec<String>,
}

impl Reach {
    /// Public addresses alone.
    #[must_use]
    pub const fn public() -> Self {
        Self { public: true, loopback: false, hosts: Vec::new() }
    }

    /// Nothing but what is named.
    #[must_use]
    pub const fn nothing() -> Self {
        Self { public: false, loopback: false, hosts: Vec::new() }
    }

    /// Whether hosts need not be named.
    #[must_use]
    pub const fn is_wide(&self) -> bool {
        self.public
    }

    /// This machine's loopback, too.
    #[must_use]
    pub fn with_loopback(mut self) -> Self {
        self.loopback = true;
        self
    }

    /// These hosts, too, at whatever private address they are: `*.example.com` for those below one.
    #[must_use]
    pub fn with_hosts(mut self, mut hosts: Vec<String>) -> Self {
        for host in &mut hosts {
            host.make_ascii_lowercase();
        }
        hosts.sort();
        self.hosts = hosts;
        self
    }

    /// Whether `host`, in lower case, is named.
    #[must_use]
    pub fn names(&self, host: &str) -> bool {
        self.hosts.iter().any(|named| is_named(named, host))
    }

    /// Whether `host` may be spoken to at `address`. Clouds' metadata is at no address that may be reached, whatever is
    /// named.
    #[must_use]
    pub fn allows(&self, host: &str, address: IpAddr) -> bool {
        let plain = plain(address);
        (is_public(address) && (self.public || self.names(host)))
            || (self.loopback && plain.is_loopback() && is_here(host))
            || (self.names(host) && is_private(plain))
    }
}

/// Whether `host` says itself that it is an address or this machine. Any other name could say so of this machine at any
/// moment, and be of one origin with what it was before.
fn is_here(host: &str) -> bool {
    let bare = host.trim_end_matches('.').trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.ends_with(".localhost") || bare.parse::<IpAddr>().is_ok()
}

/// Whether `named` means `host`: itself, or with `*.` in front those below it. Both are in lower case.
pub(crate) fn is_named(named: &str, host: &str) -> bool {
    match named.strip_prefix("*.") {
        Some(domain) => {
            host.strip_suffix(domain).is_some_and(|below| below.ends_with('.') && below.len() > 1)
        }
        None => named == host,
    }
}

/// The port of a host that is named without one.
pub(crate) const TLS: u16 = 443;

/// A host and its port, as people name them: `example.com`, `example.com:8443`, `*.example.com`. In lower case.
pub(crate) fn place(named: &str) -> (String, u16) {
    match named.rsplit_once(':') {
        Some((host, port)) => (host.to_ascii_lowercase(), port.parse().unwrap_or(TLS)),
        None => (named.to_ascii_lowercase(), TLS),
    }
}

/// Whether `named`, a host or with `*.` in front those below one, means `asked` and its port.
#[must_use]
pub fn covers(named: &str, asked: &str) -> bool {
    let ((named, of), (asked, at)) = (place(named), place(asked));
    of == at && is_named(&named, &asked)
}

/// Where a host is, as the system says. Names below `localhost` are this machine (RFC 6761 §6.3), which not every system knows.
pub(crate) fn resolved(host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
    let name = if host.ends_with(".localhost") { "localhost" } else { host };
    Ok((name, port).to_socket_addrs()?.collect())
}

/// An IPv4 address in an IPv6 one is what it is.
fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// Whether it is of a network of one's own (RFC 1918, RFC 4193) or loopback; link-local ones, where metadata is, are not. Addresses
/// for documentation (RFC 5737, RFC 3849) are nobody's outside: who uses them does so within.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_private() || v4.is_loopback() || v4.is_documentation(),
        IpAddr::V6(v6) => {
            // Amazon's metadata by IPv6 is at a unique local address.
            let is_metadata = v6.segments()[..2] == [0xfd00, 0xec2];
            v6.is_loopback()
                || (v6.is_unique_local() && !is_metadata)
                || v6.segments()[..2] == [0x2001, 0xdb8]
        }
    }
}

/// Whether an address is public: not loopback, private, link-local, shared, reserved, multicast, or any of these
/// wrapped in IPv6 (IANA special-purpose registries, RFC 6890).
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(a: Ipv4Addr) -> bool {
    let [b0, b1, b2, _] = a.octets();
    !(a.is_loopback()
        || a.is_private()
        || a.is_link_local()
        || a.is_broadcast()
        || a.is_documentation()
        || a.is_multicast()
        || b0 == 0
        || b0 >= 240
        || (b0 == 100 && (64..128).contains(&b1))
        || (b0 == 198 && (18..20).contains(&b1))
        || (b0 == 192 && b1 == 0 && b2 == 0)
        || (b0 == 192 && b1 == 88 && b2 == 99))
}

fn is_public_v6(a: Ipv6Addr) -> bool {
    let s = a.segments();
    let low = Ipv4Addr::from((u32::from(s[6]) << 16) | u32::from(s[7]));
    match s {
        // IPv4-mapped, -compatible and NAT64: as good as the address inside.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => is_public_v4(low),
        // The rest of ::/96, local NAT64, discard-only, Teredo and ORCHID, documentation, 6to4.
        [0, 0, 0, 0, 0, 0, ..]
        | [0x64, 0xff9b, 1, ..]
        | [0x100, 0, 0, 0, ..]
        | [0x2001, 0..=0x1ff | 0xdb8, ..]
        | [0x2002, ..]
        | [0x3fff, 0..=0xfff, ..] => false,
        // Only global unicast is public.
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_may_be_private_and_never_metadata() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let named = Reach::public().with_hosts(vec!["Build.Example".into(), "*.dev.example".into()]);
        assert!(
            named.allows("build.example", ip("10.0.0.1")) && named.allows("a.dev.example", ip("fd12::1"))
        );
        assert!(named.allows("a.dev.example", ip("::ffff:192.168.0.1")));
        assert!(
            named.allows("build.example", ip("203.0.113.80"))
                && named.allows("build.example", ip("2001:db8::1"))
        );
        assert!(!named.allows("other.example", ip("203.0.113.80")));
        for (host, address) in [
            ("other.example", "10.0.0.1"),
            ("dev.example", "10.0.0.1"),
            ("build.example", "169.254.169.254"),
            ("build.example", "fd00:ec2::254"),
            ("build.example", "fe80::1"),
            ("build.example", "100.100.100.200"),
            ("build.example", "0.0.0.0"),
        ] {
            assert!(!named.allows(host, ip(address)), "{host} {address}");
        }
        let local = Reach::public().with_loopback();
        for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "1.1.1.1"] {
            assert!(local.allows("localhost", ip(address)), "{address}");
        }
        assert!(local.allows("127.0.0.1", ip("127.0.0.1")) && local.allows("[::1]", ip("::1")));
        assert!(!local.allows("x.example", ip("127.0.0.1")), "a name that leads here is not this machine");
        assert!(!local.allows("x", ip("10.0.0.1")) && !Reach::public().allows("x", ip("127.0.0.1")));
    }

    #[test]
    fn n08_special_purpose_addresses_are_not_public() {
        for text in [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "198.18.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "224.0.0.1",
            "192.0.0.8",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::7f00:1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "fe80::1",
            "fc00::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2001:0:1::",
            "64:ff9b::a00:1",
            "192.88.99.1",
            "203.0.113.7",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in [
            "1.1.1.1",
            "93.184.216.34",
            "2606:4700::1111",
            "2a00:1450:4001::1",
            "142.250.1.1",
            "::ffff:1.1.1.1",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn a_host_means_one_port() {
        for (named, asked) in [
            ("api.example.com", "API.example.com:443"),
            ("*.example.com", "api.example.com"),
            ("api.example.com:8443", "api.example.com:8443"),
        ] {
            assert!(covers(named, asked), "{named} {asked}");
        }
        for (named, asked) in [
            ("api.example.com", "api.example.com:8443"),
            ("api.example.com:8443", "api.example.com"),
            ("*.example.com", "example.com"),
            ("*", "example.com"),
        ] {
            assert!(!covers(named, asked), "{named} {asked}");
        }
    }

    #[test]
    fn hosts_are_named_themselves_and_below_a_domain() {
        assert!(
            is_named("proxy.golang.org", "proxy.golang.org") && is_named("*.npmjs.org", "registry.npmjs.org")
        );
        for host in ["npmjs.org", "evilnpmjs.org", ".npmjs.org", "registry.npmjs.org.evil.example"] {
            assert!(!is_named("*.npmjs.org", host), "{host}");
        }
    }
}
