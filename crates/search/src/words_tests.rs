use proptest::prelude::*;

use super::*;

fn split(text: &str, joins: bool) -> String {
    let mut said = Vec::new();
    Splitter::default().split(text, 0, joins, |piece| {
        let mark = if piece.words > 1 { "+" } else { "" };
        said.push(format!("{mark}{}@{}", piece.text, piece.at));
    });
    said.join(" ")
}

#[test]
fn identifiers_are_taken_apart_and_kept_whole() {
    for (text, expected) in [
        ("useAuthToken", "use@0 auth@1 token@2 +useauthtoken@0"),
        ("HTTPServer", "http@0 server@1 +httpserver@0"),
        ("base64url", "base64@0 url@1 +base64url@0"),
        ("oauth2 a11y i18n k8s utf8mb4", "oauth2@0 a11y@1 i18n@2 k8s@3 utf8mb4@4"),
        ("OAuth2", "o@0 auth2@1 +oauth2@0"),
        ("v2Beta", "v2@0 beta@1 +v2beta@0"),
        ("URLs IDs HTTPServers", "urls@0 ids@1 http@2 servers@3 +httpservers@2"),
        ("snake_case kebab-case", "snake@0 case@1 kebab@2 case@3"),
        ("… -- !", ""),
        ("x", "x@0"),
    ] {
        assert_eq!(split(text, false), expected, "{text}");
    }
}

#[test]
fn joints_join_in_names_and_code() {
    for (text, expected) in [
        ("rls-policy", "rls@0 policy@1 +rlspolicy@0"),
        ("snake_case_name", "snake@0 case@1 name@2 +snakecasename@0"),
        ("ctx.auth_token", "ctx@0 auth@1 token@2 +authtoken@1 +ctxauthtoken@0"),
        ("a.b", "a@0 b@1 +ab@0"),
        ("useAuth-token", "use@0 auth@1 +useauth@0 token@2 +useauthtoken@0"),
        ("end. Next - one -two", "end@0 next@1 one@2 two@3"),
        ("one--two", "one@0 two@1"),
    ] {
        assert_eq!(split(text, true), expected, "{text}");
    }
}

#[test]
fn case_and_accents_are_folded() {
    for (text, expected) in [
        ("Café CAFÉ cafe\u{301}", "cafe@0 cafe@1 cafe@2"),
        ("Straße ŁÓDŹ Ærø İstanbul", "strasse@0 lodz@1 aero@2 istanbul@3"),
        ("Đặng Việt naïve", "dang@0 viet@1 naive@2"),
        ("МОСКВА Ελλάδα", "москва@0 ελλάδα@1"),
    ] {
        assert_eq!(split(text, false), expected, "{text}");
    }
}

#[test]
fn runs_of_scripts_without_spaces_are_pairs() {
    for (text, expected) in [
        ("日本語", "日本@0 本語@1"),
        ("語", "語@0"),
        ("Rustの本", "rust@0 の本@1"),
        ("認証トークン auth", "認証@0 証ト@1 トー@2 ーク@3 クン@4 auth@5"),
        ("인증을", "인증@0 증을@1"),
    ] {
        assert_eq!(split(text, true), expected, "{text}");
    }
}

#[test]
fn what_is_too_long_is_no_word() {
    let (forty, more) = ("x".repeat(40), "x".repeat(41));
    assert_eq!(split(&forty, false), format!("{forty}@0"));
    assert_eq!(split(&format!("{more} y"), false), "y@0");
    assert_eq!(split(&"é".repeat(40), false), format!("{}@0", "e".repeat(40)));
    assert_eq!(split(&"ж".repeat(41), false), "");
    let joined = format!("{}-{}", "a".repeat(30), "b".repeat(30));
    assert!(!split(&joined, true).contains('+'));
}

#[test]
fn stems_are_of_english_words_only() {
    let stems = Stems::new();
    for (word, stem) in [
        ("policies", "polici"),
        ("running", "run"),
        ("uses", "use"),
        ("oauth2", "oauth2"),
        ("ran", "ran"),
        ("über", "über"),
    ] {
        assert_eq!(stems.of(word), stem);
    }
}

/// What is looked for in a passage by its first letters is found there.
#[test]
fn stems_begin_as_their_words_do() {
    let stems = Stems::new();
    let irregular = [
        "dying", "lying", "tying", "skies", "idly", "gently", "ugly", "early", "only", "singly", "news",
        "using", "aing",
    ];
    for word in irregular {
        assert!(may_be_of(&stems.of(word), word), "{word}: {}", stems.of(word));
    }
    assert!(!may_be_of("run", "turning") && !may_be_of("rim", "running") && !may_be_of("ran", "rant1"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn no_stem_begins_otherwise(word in "[a-z]{1,12}|[aeiouy][a-z]{1,3}(ing|ed|ly|ies|s|ement|ation)|[a-zé0-9]{1,5}") {
        prop_assert!(may_be_of(&Stems::new().of(&word), &word), "{}", Stems::new().of(&word));
    }
}

#[test]
fn stop_words_are_thirty_three_and_sorted() {
    assert!(STOP.is_sorted());
    assert!(is_stop("the") && is_stop("a") && is_stop("with") && !is_stop("token"));
}
