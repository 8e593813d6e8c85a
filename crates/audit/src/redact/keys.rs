//! Names that hold secrets, decided by segment: `apiKey`, `access_token`, `DB-PASSWORD`; not `keyword`, not
//! `tokensUsed`, not `primaryKey`.

/// Segments that are enough alone, wherever they stand.
const ALWAYS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "secrets",
    "credential",
    "credentials",
    "apikey",
    "authorization",
    "privatekey",
    "accesskey",
    "secretkey",
    "accesstoken",
    "authtoken",
    "bearer",
    "cookie",
    "cookies",
    "setcookie",
    "sessionid",
    "jwt",
    "otp",
    "totp",
    "cvv",
    "cvc",
];

/// What makes a final `key` or `keys` a secret.
const KEY_KINDS: &[&str] = &[
    "api",
    "access",
    "private",
    "secret",
    "signing",
    "encryption",
    "decryption",
    "ssh",
    "gpg",
    "pgp",
    "deploy",
    "master",
    "auth",
    "service",
    "account",
    "storage",
    "shared",
    "license",
    "webhook",
    "hmac",
    "rsa",
    "ed25519",
];

/// What makes a final `token` harmless: a word of the field, not a credential.
const TOKEN_KINDS: &[&str] = &[
    "design",
    "next",
    "page",
    "progress",
    "continuation",
    "cancel",
    "cancellation",
    "max",
    "min",
    "css",
    "color",
];

/// Whether `name` has a part that every word of the lists has. Most have none, and are not split.
fn may_be_sensitive(name: &str) -> bool {
    let bytes = name.as_bytes();
    // What is not ASCII may become it in lower case.
    !name.is_ascii()
        || bytes.iter().enumerate().any(|(at, byte)| {
            let parts: &[&[u8]] = match byte.to_ascii_lowercase() {
                b'a' => &[b"auth"],
                b'b' => &[b"bearer"],
                b'c' => &[b"credential", b"cookie", b"cv"],
                b'j' => &[b"jwt"],
                b'k' => &[b"key"],
                b'o' => &[b"otp"],
                b'p' => &[b"pass", b"pwd"],
                b's' => &[b"secret", b"session"],
                b't' => &[b"token"],
                _ => return false,
            };
            let begins =
                |part: &&[u8]| bytes[at..].get(..part.len()).is_some_and(|b| b.eq_ignore_ascii_case(part));
            parts.iter().any(begins)
        })
}

/// Whether a value under `name` is a secret, whatever it looks like.
#[must_use]
pub fn is_sensitive(name: &str) -> bool {
    may_be_sensitive(name) && is_sensitive_by_segment(name)
}

fn is_sensitive_by_segment(name: &str) -> bool {
    let segments = segments(name);
    let Some(last) = segments.last() else { return false };
    // `passwordPolicy` and `secretName` describe; `password`, `dbPassword`, `password2` hold.
    let describes = matches!(
        last.as_str(),
        "policy"
            | "name"
            | "names"
            | "path"
            | "file"
            | "length"
            | "count"
            | "id"
            | "ref"
            | "field"
            | "required"
            | "enabled"
            | "url"
            | "uri"
            | "type"
            | "env"
            | "mask"
            | "hint"
            | "label"
            | "used"
            | "limit"
            | "kind"
    );
    if describes && last != "id" {
        return false;
    }
    let has = |words: &[&str]| segments.iter().any(|s| words.contains(&s.as_str()));
    if has(ALWAYS) {
        return true;
    }
    let before = segments.len().checked_sub(2).and_then(|i| segments.get(i)).map(String::as_str);
    match last.as_str() {
        "key" | "keys" => before.is_some_and(|b| KEY_KINDS.contains(&b)),
        "token" => before.is_none_or(|b| !TOKEN_KINDS.contains(&b)),
        "tokens" => before.is_some_and(|b| matches!(b, "access" | "refresh" | "auth" | "api" | "bearer")),
        "id" => before == Some("session"),
        "auth" => true,
        _ => false,
    }
}

/// Whether `value` under `name` is the name of a session that people gave it (`2025-11-05-rls-policies`), and no session's secret: words of
/// letters, and numbers, with hyphens, dots or underscores between them. What is random has letters and digits in one run, or is one long run.
pub(crate) fn is_spoken_id(name: &str, value: &str) -> bool {
    let segments = segments(name);
    let [.., before, last] = segments.as_slice() else { return false };
    if (before.as_str(), last.as_str()) != ("session", "id") || value.len() > 120 {
        return false;
    }
    let (mut parts, mut words) = (0, 0);
    for part in value.split(['-', '.', '_']) {
        let is_number = part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
        let is_word = part.len() <= 20 && part.bytes().all(|b| b.is_ascii_lowercase());
        if part.is_empty() || !is_number && !is_word {
            return false;
        }
        parts += 1;
        words += usize::from(is_word);
    }
    // A single word is one that nobody would guess only where it is long.
    words >= 1 && (parts >= 2 || value.len() <= 12)
}

/// Splits at everything that is not a letter or digit, at case changes, and before trailing digits; lower case.
fn segments(name: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let chars: Vec<char> = name.chars().collect();
    for (i, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            out.push(String::new());
            continue;
        }
        let before = i.checked_sub(1).map(|j| chars[j]);
        let next_is_lower = chars.get(i + 1).is_some_and(|n| n.is_lowercase());
        let begins = c.is_uppercase()
            && before.is_some_and(|b| {
                b.is_lowercase() || b.is_ascii_digit() || (b.is_uppercase() && next_is_lower)
            });
        if begins {
            out.push(String::new());
        }
        if let Some(last) = out.last_mut() {
            last.extend(c.to_lowercase());
        }
    }
    // `password2`, `key1`: the number only counts.
    for segment in &mut out {
        let word = segment.trim_end_matches(|c: char| c.is_ascii_digit());
        if word.len() >= 3 && word.len() < segment.len() && word != "ed" {
            segment.truncate(word.len());
        }
    }
    out.retain(|s| !s.is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn what_is_not_split_is_not_sensitive(
            words in proptest::collection::vec(0..ALWAYS.len() + KEY_KINDS.len() + 8, 1..4),
            cases in 0..3,
            between in "[-_. ]?",
        ) {
            let more = ["key", "keys", "token", "tokens", "auth", "id", "é", "\u{212a}ey"];
            let all: Vec<&str> = ALWAYS.iter().chain(KEY_KINDS).chain(&more).copied().collect();
            let words = words.iter().map(|at| match cases {
                0 => all[*at].to_owned(),
                1 => all[*at].to_uppercase(),
                _ => {
                    let mut letters = all[*at].chars();
                    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
                }
            });
            let name = words.collect::<Vec<_>>().join(&between);
            proptest::prop_assert_eq!(is_sensitive(&name), is_sensitive_by_segment(&name), "{}", name);
        }
    }

    #[test]
    fn names_that_hold_secrets() {
        for name in [
            "apiKey",
            "api_key",
            "API-KEY",
            "APIKey",
            "access_token",
            "accessToken",
            "token",
            "githubToken",
            "DB_PASSWORD",
            "password2",
            "clientSecret",
            "client_secret",
            "Authorization",
            "private_key",
            "auth",
            "sessionId",
            "Set-Cookie",
            "AWS_SECRET_ACCESS_KEY",
            "refresh_tokens",
            "sshKey",
            "credentials.json.secret",
        ] {
            assert!(is_sensitive(name), "{name}");
        }
    }

    #[test]
    fn names_of_sessions_that_people_gave_are_no_secrets() {
        for (name, value, is_one) in [
            ("sessionId", "2025-11-05-rls-policies", true),
            ("session_id", "fix.login_form", true),
            ("sessionId", "8f14e45fceea167a5a36dedd4bea2543", false),
            ("sessionId", "2b1e7c1a-9f7e-4a51-8f43-0c1d3f0e6a11", false),
            ("sessionId", "2025-11-05-a8f3kq", false),
            ("sessionId", "early", true),
            ("sessionId", "qzkfjwmvbnxhrtyplsdg", false),
            ("sessionId", "s%3AabcDEF.ghi", false),
            ("sessionId", "20251105120000-rls", false),
            ("password", "2025-11-05-rls-policies", false),
            ("id", "2025-11-05-rls-policies", false),
        ] {
            assert_eq!(is_spoken_id(name, value), is_one, "{name} {value}");
        }
    }

    #[test]
    fn names_that_only_sound_like_it() {
        for name in [
            "keyword",
            "tokensUsed",
            "tokens",
            "key",
            "primaryKey",
            "monkey",
            "keyboard",
            "nextPageToken",
            "maxTokens",
            "designToken",
            "passwordPolicy",
            "author",
            "authority",
            "tokenCount",
            "secretName",
            "idempotencyKey",
            "source",
            "compass",
            "bypass",
            "id",
            "toolCallId",
            "cookieName",
            "tokenType",
        ] {
            assert!(!is_sensitive(name), "{name}");
        }
    }
}
