//! Which addresses may be spoken to: one table for whatever goes out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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
}
