//! Shapes of secrets: keyed contexts, providers' tokens, PEM blocks and JSON Web Tokens.
//!
//! Every rule names literals that must be near a match. One Aho-Corasick scan finds those; a rule's expression then
//! runs over a window around each, so that text without triggers is read once and none is read more than a few times.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::{Regex, RegexBuilder};

use super::{Hit, is_sensitive};

/// How far around a literal a rule looks. Longer secrets (PEM blocks) say so themselves.
const WINDOW: usize = 512;

/// How far a window grows while a match reaches its end.
const LARGEST: usize = 64 * 1024;

struct Rule {
    kind: &'static str,
    /// Any of these, compared without ASCII case, must be in the text.
    literals: &'static [&'static str],
    /// The group named `secret` is what goes; the whole match where there is none.
    expression: &'static str,
    window: usize,
}

const fn rule(kind: &'static str, literals: &'static [&'static str], expression: &'static str) -> Rule {
    Rule { kind, literals, expression, window: WINDOW }
}

/// Token shapes as their issuers document them.
#[rustfmt::skip]
const RULES: &[Rule] = &[
    rule("aws", &["AKIA", "ASIA", "ABIA", "ACCA"], r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    rule("github", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b"),
    rule("github", &["github_pat_"], r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b"),
    rule("gitlab", &["glpat-", "gldt-", "glrt-", "glptt-", "glsoat-", "glcbt-", "glagent-", "glft-", "glimt-"], r"\bgl(?:pat|dt|rt|ptt|soat|cbt|agent|ft|imt)-[A-Za-z0-9_-]{20,}"),
    rule("slack", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxb.", "xoxp.", "xoxa.", "xoxr.", "xoxs.", "xoxe", "xapp-"], r"\b(?:xox[abeprs][-.][A-Za-z0-9.-]{10,}|xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+)"),
    rule("slack", &["hooks.slack.com"], r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/]{20,})"),
    rule("gatewright", &["gwk_"], r"\bgwk_[0-9A-Z]{26}_[A-Za-z0-9_-]{43}"),
    rule("stripe", &["sk_live", "sk_test", "rk_live", "rk_test", "sk_prod", "rk_prod", "whsec_"], r"\b(?:(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,99}|whsec_[A-Za-z0-9+/=]{20,})"),
    rule("google", &["AIza"], r"\bAIza[0-9A-Za-z_-]{35}\b"),
    rule("google", &["ya29.", "GOCSPX-"], r"\b(?:ya29\.[0-9A-Za-z_-]{20,}|GOCSPX-[0-9A-Za-z_-]{28})"),
    rule("anthropic", &["sk-ant-"], r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    rule("openai", &["sk-"], r"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{32,}"),
    rule("npm", &["npm_"], r"\bnpm_[A-Za-z0-9]{36}\b"),
    rule("pypi", &["pypi-AgEI"], r"\bpypi-AgEI[A-Za-z0-9_-]{50,}"),
    rule("crates", &["cio"], r"\bcio[A-Za-z0-9]{32}\b"),
    rule("rubygems", &["rubygems_"], r"\brubygems_[a-f0-9]{48}\b"),
    rule("docker", &["dckr_"], r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}"),
    rule("sendgrid", &["SG."], r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    rule("mailgun", &["key-"], r"\bkey-[a-f0-9]{32}\b"),
    rule("twilio", &["SK", "AC"], r"\b(?:SK|AC)[a-f0-9]{32}\b"),
    rule("telegram", &[":AA"], r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    rule("discord", &["discord"], r"discord(?:app)?\.com/api/webhooks/\d+/(?P<secret>[A-Za-z0-9_-]{60,})"),
    rule("digitalocean", &["dop_v1_", "doo_v1_", "dor_v1_"], r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    rule("databricks", &["dapi"], r"\bdapi[a-f0-9]{32}(?:-\d)?\b"),
    rule("doppler", &["dp."], r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}"),
    rule("figma", &["figd_", "figu_", "figur_", "figo_"], r"\bfig(?:d|u|ur|o)_[A-Za-z0-9_-]{40,}"),
    rule("hashicorp", &["hvs.", "hvb.", "hvr.", "atlasv1"], r"\b(?:hv[sbr]\.[A-Za-z0-9_-]{24,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,})"),
    rule("huggingface", &["hf_", "api_org_"], r"\b(?:hf_|api_org_)[A-Za-z]{34}\b"),
    rule("linear", &["lin_api_", "lin_oauth_"], r"\blin_(?:api|oauth)_[A-Za-z0-9]{40,}"),
    rule("notion", &["ntn_"], r"\bntn_[A-Za-z0-9]{40,}"),
    rule("planetscale", &["pscale_"], r"\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}"),
    rule("postman", &["PMAK-"], r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b"),
    rule("pulumi", &["pul-"], r"\bpul-[a-f0-9]{40}\b"),
    rule("sentry", &["sntrys_", "sntryu_"], r"\bsntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    rule("shopify", &["shpat_", "shpca_", "shppa_", "shpss_"], r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    rule("square", &["EAAA", "sq0"], r"\b(?:EAAA[A-Za-z0-9_-]{60}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,43})"),
    rule("supabase", &["sbp_", "sb_secret_"], r"\b(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})"),
    rule("vercel", &["vercel_"], r"\bvercel_[A-Za-z0-9_]{20,}"),
    rule("azure", &["AccountKey=", "SharedAccessKey=", "sig="], r"(?:AccountKey|SharedAccessKey|[?&]sig)=(?P<secret>[A-Za-z0-9+/%]{30,}={0,2})"),
    rule("age", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Rule { kind: "jwt", literals: &["eyJ"], expression: r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}", window: 16 * 1024 },
    rule("url", &["://"], r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@'\x22<>]{0,128}:(?P<secret>[^\s/'\x22<>\[]+)@"),
    rule("header", &["authorization", "x-api-key", "cookie"], r"(?i)\b(?:authorization|x-api-key|(?:set-)?cookie)['\x22]?\s*[:=]\s*['\x22]?(?P<secret>(?:(?:bearer|basic|token|digest|negotiate)\s+)?[^\s'\x22\[,][^\r\n'\x22]{5,})"),
    rule("bearer", &["bearer"], r"(?i)\bbearer\s+(?P<secret>[A-Za-z0-9._~+/=-]{16,})"),
    Rule {
        kind: "private-key",
        literals: &["PRIVATE KEY"],
        expression: r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)",
        window: 20 * 1024,
    },
];

/// Whether what a rule finds is a secret only by what it is called, or by where it stands.
pub(super) fn is_by_name(kind: &str) -> bool {
    matches!(kind, "keyed" | "url" | "header" | "bearer")
}

/// `name = value` in prose, configuration and logs; whether the name holds a secret is decided by segment.
const KEYED: &str = r#"(?i)(?P<name>[A-Za-z][A-Za-z0-9_.-]{0,60})\\?["']?\s{0,3}(?::=|=>|[:=])\s{0,3}(?:\\?"(?P<dq>(?:[^"\\\r\n]|\\[^\r\n]){4,})|'(?P<sq>[^'\r\n]{4,})|(?P<bare>[^\s"'\[\]{},;]{6,}))"#;

/// What a keyed context's name contains, so that the scan can find it.
const KEYED_LITERALS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "credential",
    "token",
    "key",
    "auth",
    "bearer",
    "cookie",
    "jwt",
    "session",
    "otp",
    "cvv",
    "cvc",
];

// Each rule has a bit of its own.
const _: () = assert!(RULES.len() < 64);

/// A literal of the prefilter, which finds it in any case.
#[derive(Debug, Clone, Copy)]
struct Literal {
    /// The rule that it belongs to; the last is the keyed context.
    owner: usize,
    /// Its spelling, where the rule's expression has no other.
    exact: Option<&'static [u8]>,
}

impl Literal {
    /// The bit of its rule.
    const fn bit(self) -> u64 {
        1 << self.owner
    }

    /// Whether the rule may match where it stands: most words that have `ac` or `key` in them begin no secret. Where this is said no to
    /// of all its literals, the rule's expression matches nowhere.
    fn may_match(self, bytes: &[u8], at: Range<usize>) -> bool {
        match self.exact {
            Some(exact) => bytes.get(at).is_some_and(|there| there == exact),
            None if self.owner == RULES.len() => is_name(bytes.get(at.end..).unwrap_or_default()),
            None => true,
        }
    }
}

/// Whether what comes after a part of a name makes a name of it, by [`KEYED`]: its rest, a quote, some space, and `:` or `=`.
fn is_name(after: &[u8]) -> bool {
    let is_of_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    let after = &after[after.iter().take_while(|b| is_of_name(b)).count()..];
    let after = after.strip_prefix(b"\\").unwrap_or(after);
    let after = after.strip_prefix(b"\"").or_else(|| after.strip_prefix(b"'")).unwrap_or(after);
    let spaces = after.iter().take(3).take_while(|b| matches!(b, b'\t'..=b'\r' | b' ')).count();
    matches!(after.get(spaces), Some(b':' | b'='))
}

pub(super) struct Rules {
    /// Made when something is first redacted: who only lists tools never does.
    prefilter: OnceLock<Option<AhoCorasick>>,
    /// For each literal of the prefilter: whose it is.
    literals: Vec<Literal>,
    /// Compiled when first triggered: most processes never meet most of them.
    compiled: Vec<OnceLock<Option<Regex>>>,
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rules({})", self.compiled.len())
    }
}

impl Rules {
    pub(super) fn new() -> Self {
        let of_rule = |(owner, rule): (usize, &'static Rule)| {
            let is_exact = !rule.expression.starts_with("(?i)");
            rule.literals
                .iter()
                .map(move |text| Literal { owner, exact: is_exact.then_some(text.as_bytes()) })
        };
        let keyed = KEYED_LITERALS.iter().map(|_| Literal { owner: RULES.len(), exact: None });
        let literals = RULES.iter().enumerate().flat_map(of_rule).chain(keyed).collect();
        let compiled = std::iter::repeat_with(OnceLock::new).take(RULES.len() + 1).collect();
        Self { prefilter: OnceLock::new(), literals, compiled }
    }

    /// Finds every literal of every rule. `None` would be a defect, and a test says that there is none.
    fn prefilter(&self) -> Option<&AhoCorasick> {
        let literals = || RULES.iter().flat_map(|rule| rule.literals).chain(KEYED_LITERALS);
        let built = || {
            AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::Standard)
                // Of so many literals the library would make a smaller one, which is several times slower.
                .kind(Some(AhoCorasickKind::DFA))
                .build(literals())
                .ok()
        };
        self.prefilter.get_or_init(built).as_ref()
    }

    /// The expression of a rule, or of the keyed context. `None` would be a defect, and a test says that there is none.
    fn expression(&self, owner: usize) -> Option<&Regex> {
        let source = RULES.get(owner).map_or(KEYED, |rule| rule.expression);
        self.compiled.get(owner)?.get_or_init(|| compile(source)).as_ref()
    }

    pub(super) fn find(&self, bytes: &[u8], mut each: impl FnMut(Hit)) {
        let Some(prefilter) = self.prefilter() else {
            // Rather too much than too little.
            return each(Hit { range: 0..bytes.len(), kind: "rule" });
        };
        // Rules that may match anywhere. A rule that may is searched around each of its literals: where one search ends decides
        // where the next begins.
        let mut may: u64 = 0;
        for literal in prefilter.find_overlapping_iter(bytes) {
            let of = self.literals[literal.pattern().as_usize()];
            if may & of.bit() == 0 && of.may_match(bytes, literal.range()) {
                may |= of.bit();
            }
        }
        if may != 0 {
            self.search(bytes, may, each);
        }
    }

    /// Searches with the rules of these bits.
    fn search(&self, bytes: &[u8], rules: u64, mut each: impl FnMut(Hit)) {
        let Some(prefilter) = self.prefilter() else { return };
        // How far each rule has looked already, so that the work stays linear.
        let mut looked = vec![0; self.compiled.len()];
        for literal in prefilter.find_overlapping_iter(bytes) {
            let of = self.literals[literal.pattern().as_usize()];
            let owner = of.owner;
            if rules & of.bit() == 0 {
                continue;
            }
            let mut window = RULES.get(owner).map_or(WINDOW, |rule| rule.window);
            let from = literal.start().saturating_sub(WINDOW / 4).max(looked[owner]);
            if literal.end() <= looked[owner] || from >= bytes.len() {
                continue;
            }
            let mut hits;
            loop {
                let to = (literal.start() + window).min(bytes.len());
                hits = self.hits(owner, bytes, from..to);
                // A match that reaches the window's end may go on beyond it.
                let cut = to < bytes.len() && hits.iter().any(|h| h.range.end + 1 >= to);
                if !cut || window >= LARGEST {
                    break;
                }
                window *= 4;
            }
            let end = hits.iter().map(|h| h.range.end).max().unwrap_or(0).max(literal.end());
            hits.into_iter().for_each(&mut each);
            looked[owner] = end;
        }
    }
}

impl Rules {
    fn hits(&self, owner: usize, bytes: &[u8], window: Range<usize>) -> Vec<Hit> {
        let (from, text) = (window.start, &bytes[window]);
        let shifted = |range: Range<usize>, kind| Hit { range: from + range.start..from + range.end, kind };
        let Some(regex) = self.expression(owner) else {
            // Rather too much than too little.
            return vec![shifted(0..text.len(), "rule")];
        };
        if let Some(Rule { kind, .. }) = RULES.get(owner) {
            let found = regex.captures_iter(text);
            return found
                .filter_map(|c| c.name("secret").or_else(|| c.get(0)).map(|m| shifted(m.range(), kind)))
                .collect();
        }
        let sensitive = |name: &[u8]| std::str::from_utf8(name).is_ok_and(is_sensitive);
        regex
            .captures_iter(text)
            .filter_map(|captures| {
                let value = ["dq", "sq", "bare"].iter().find_map(|group| captures.name(group))?;
                let secret = sensitive(captures.name("name")?.as_bytes()) && !is_benign(value.as_bytes());
                secret.then(|| shifted(value.range(), "keyed"))
            })
            .collect()
    }
}

/// Secrets are ASCII in every rule; without Unicode classes the automata stay small.
fn compile(expression: &str) -> Option<Regex> {
    RegexBuilder::new(expression).unicode(false).build().ok()
}

/// Values that stand where a secret would and are none: references, placeholders, words of a type system.
fn is_benign(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let text = text.trim_matches(|c: char| matches!(c, '"' | '\''));
    text.starts_with("[redacted:")
        || text.starts_with("${")
        || text.starts_with("$(")
        || text.starts_with("{{")
        || text.starts_with("process.env")
        || text.starts_with("os.environ")
        || text.starts_with("env.")
        || text.bytes().all(|b| matches!(b, b'*' | b'x' | b'X' | b'.' | b'-'))
        || matches!(
            text.to_ascii_lowercase().as_str(),
            "string"
                | "boolean"
                | "number"
                | "undefined"
                | "required"
                | "optional"
                | "none"
                | "null"
                | "true"
                | "false"
                | "changeme"
                | "example"
                | "placeholder"
                | "redacted"
                | "string;"
                | "option<string>"
                | "&str"
        )
}

#[cfg(test)]
mod tests {
    use super::super::{Redactor, is_sensitive};

    fn clean(text: &str) -> String {
        Redactor::new(&[], [1; 32]).text(text).into_owned()
    }

    #[test]
    fn every_expression_compiles() {
        let rules = super::Rules::new();
        assert!(rules.prefilter().is_some());
        assert!((0..=super::RULES.len()).all(|owner| rules.expression(owner).is_some()));
    }

    /// The same without a look at what stands around literals.
    fn found_without_a_look(rules: &super::Rules, bytes: &[u8]) -> Vec<super::Hit> {
        let all = super::Rules {
            literals: rules.literals.iter().map(|of| super::Literal { exact: None, ..*of }).collect(),
            ..super::Rules::new()
        };
        let mut found = Vec::new();
        all.search(bytes, u64::MAX, |hit| found.push(hit));
        found
    }

    fn found(rules: &super::Rules, bytes: &[u8]) -> Vec<super::Hit> {
        let mut found = Vec::new();
        rules.find(bytes, |hit| found.push(hit));
        found
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2_000))]
        #[test]
        fn a_look_around_literals_changes_nothing(
            words in proptest::collection::vec(
                "(key|KEY|api|token|Token|secret|auth|session|id|otp|sk|AC|x|foo|_|-|\\.|: |=|:=| = |=>|/|,|\"|'|\\\\|  | |\n|abcdef123|a1b2c3d4a1b2c3d4a1b2c3d4a1b2c3d4|bearer |Cookie|ghp_|a{36})",
                1..24,
            ),
        ) {
            let text = words.concat();
            let rules = super::Rules::new();
            proptest::prop_assert_eq!(found(&rules, text.as_bytes()), found_without_a_look(&rules, text.as_bytes()), "{}", text);
        }
    }

    #[test]
    fn what_stands_between_a_literal_and_a_secret_does_not_hide_it() {
        let rules = super::Rules::new();
        let hook = "a1".repeat(32);
        for (text, secret) in [
            ("ERROR: /etc/keys/app.conf: password=hunter2hunter2".to_owned(), "hunter2hunter2"),
            ("https://ex.com/auth/login: password=hunter2hunter2".to_owned(), "hunter2hunter2"),
            ("warn: src/auth/mod.rs: token=abcdef123456".to_owned(), "abcdef123456"),
            ("x=\"a key password=hunter2hunter2".to_owned(), "hunter2hunter2"),
            (format!("key foo=\"{} bar=\"password=hunter2hunter2", "a ".repeat(70)), "hunter2hunter2"),
            (format!("DISCORdiscord.com/api/webhooks/1/{hook}"), hook.as_str()),
            (format!("abcdeATLASV1xy.atlasv1.{hook}"), hook.as_str()),
            ("STRIPE_SK_PROD=rk_prod_0123456789abcdefABCDEFGH".to_owned(), "0123456789abcdefABCDEFGH"),
            ("xoxb.123456789012-abcdef".to_owned(), "123456789012-abcdef"),
        ] {
            assert_eq!(
                found(&rules, text.as_bytes()),
                found_without_a_look(&rules, text.as_bytes()),
                "{text}"
            );
            let out = clean(&text);
            assert!(!out.contains(secret), "{text}: {out}");
        }
    }

    #[test]
    fn provider_tokens_are_masked() {
        let f =
            |n: usize| "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3".chars().cycle().take(n).collect::<String>();
        let hex = |n: usize| "0123456789abcdef".chars().cycle().take(n).collect::<String>();
        for token in [
            "AKIAIOSFODNN7EXAMPLE".to_owned(),
            format!("ghp_{}", f(36)),
            format!("github_pat_{}", f(60)),
            format!("glpat-{}", f(20)),
            "xoxb-123456789012-abcdefABCDEF".into(),
            format!("sk_live_{}", f(24)),
            format!("AIza{}", f(35)),
            format!("sk-ant-api03-{}", f(40)),
            format!("sk-proj-{}", f(48)),
            format!("npm_{}", f(36)),
            format!("dop_v1_{}", hex(64)),
            format!("hvs.{}", f(24)),
            format!("eyJ{}.eyJ{}.{}", f(20), f(20), f(20)),
            format!("PMAK-{}-{}", hex(24), hex(34)),
            format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", f(900)),
        ] {
            let out = clean(&format!("x {token} y"));
            assert!(out.contains("[redacted:") && !out.contains(&token[token.len() / 2..]), "{token}: {out}");
        }
    }

    #[test]
    fn keyed_contexts_lose_their_values_only() {
        for (text, kept) in [
            ("password=hunter2hunter2 next", " next"),
            (r#"{"apiKey": "abcd1234efgh", "keyword": "design"}"#, r#""keyword": "design""#),
            ("export GITHUB_TOKEN='abcdefgh12345678'", "export GITHUB_TOKEN="),
            ("Authorization: Bearer abcdefghijklmnop1234", "Authorization: "),
            ("postgres://app:s3cretpw@db:5432/x", "@db:5432/x"),
            ("postgres://app:p@ss@db:5432/x", "@db:5432/x"),
            ("DB_PASSWORD=x9$&Lq7vTz02mPwK4 next", " next"),
            (r#"{"secret_id": "5b1e-0000-1111"}"#, "secret_id"),
            (r#"{\"client_secret\":\"abcd1234efgh\"}"#, "client_secret"),
        ] {
            let out = clean(text);
            assert!(out.contains("[redacted:") && out.contains(kept), "{text} -> {out}");
        }
    }

    #[test]
    fn whatever_is_sensitive_as_a_key_is_found_in_text_too() {
        for name in [
            "password",
            "apiKey",
            "masterKey",
            "sshKey",
            "deploy_key",
            "hmac-key",
            "sessionId",
            "otp",
            "cvc",
            "jwt",
            "clientSecret",
            "auth",
            "Authorization",
            "refresh_tokens",
            "credentials",
            "setCookie",
            "AWS_SECRET_ACCESS_KEY",
        ] {
            assert!(is_sensitive(name), "{name}");
            let out = clean(&format!("{name}=0aB1cD2eF3gH"));
            assert!(out.contains("[redacted:"), "{name}: {out}");
        }
    }

    #[test]
    fn long_secrets_leave_whole() {
        let part = |n: usize| "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0u".chars().cycle().take(n).collect::<String>();
        let token = format!("eyJ{}.eyJ{}.{}", part(400), part(3_000), part(340));
        for text in
            [format!("x {token} y"), format!("Authorization: Bearer {token}"), format!("Cookie: a={token}")]
        {
            let out = clean(&text);
            assert!(out.len() < 80, "{} bytes are left: {}", out.len(), &out[..80]);
        }
        let quoted = clean(r#"password: "ab\\cdefghSECRETPART""#);
        assert!(!quoted.contains("SECRETPART"), "{quoted}");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "const token = process.env.TOKEN;",
            "password: string;",
            "the keyword is author: Jane Doe",
            "color.primary: {color.blue.500}",
            "tokensUsed: 1234567",
            "git commit 0123456789abcdef0123456789abcdef01234567",
            "https://example.org/path?x=1",
            "--color-token-primary: #ff0000;",
        ] {
            assert_eq!(clean(text), text);
        }
    }

    #[test]
    fn r06_work_grows_with_the_text_and_not_faster() {
        // Every byte a trigger: the worst case for the windows. Time is not asserted, the amount of output is;
        // a super-linear scan would not finish fifty megabytes here at all.
        let redactor = Redactor::new(&[], [1; 32]);
        let hostile = "sk-eyJpassword=://bearer ".repeat(40_000);
        assert!(redactor.text(&hostile).len() <= hostile.len() * 2);
        let benign = "plain output of an ordinary program, line after line\n".repeat(100_000);
        assert!(matches!(redactor.text(&benign), std::borrow::Cow::Borrowed(_)));
    }
}
