//! The rules of §5, one by one.

use gatewright_search::{Analysed, Field, Filters, How, Memory, Mode, Order, Query, SearchError};

use crate::common::{Doc, fast, first, ids, memory, query};

fn three() -> Memory {
    memory(&[
        Doc::title("auth/use-auth-token", "Reads the auth token"),
        Doc::body("web/spaces", "Notes about auth token handling in services"),
        Doc::body("web/fetch", "Fetching data with retries"),
    ])
}

#[test]
fn identifiers_and_words_find_each_other() {
    let index = three();
    assert_eq!(fast(&index, "useAuthToken"), ["auth/use-auth-token", "web/spaces"]);
    assert_eq!(fast(&index, "use_auth_token"), ["auth/use-auth-token", "web/spaces"]);
    assert_eq!(fast(&index, "auth token"), ["auth/use-auth-token", "web/spaces"]);
    assert_eq!(fast(&index, "useauthtoken"), ["auth/use-auth-token"]);
    let camel = memory(&[Doc { code: "export const useAuthToken = () => 1".into(), ..Doc::new("a/x") }]);
    for asked in ["auth", "token", "useauthtoken", "useAuthToken", "use-auth-token"] {
        assert_eq!(fast(&camel, asked), ["a/x"], "{asked}");
    }
}

#[test]
fn the_whole_identifier_stands_for_its_parts() {
    let index = memory(&[Doc::body("a/whole", "call useauthtoken here"), Doc::body("a/other", "nothing")]);
    let hit = first(&index, "useAuthToken");
    assert_eq!((hit.id.as_str(), hit.why.matched), ("a/whole", 3));
    assert!(hit.why.found.iter().all(|f| f.how == How::Whole && f.found == "useauthtoken"), "{hit:?}");
}

#[test]
fn short_names_with_digits_stay_whole() {
    let index = memory(&[Doc::body("a/one", "oauth2 and a11y"), Doc::body("a/two", "auth 2 a 11 y oauth")]);
    assert_eq!(fast(&index, "OAUTH2"), ["a/one"]);
    assert_eq!(fast(&index, "a11y"), ["a/one"]);
    let index = memory(&[Doc::body("a/one", "base64url text"), Doc::body("a/two", "nothing")]);
    assert_eq!(fast(&index, "base64"), ["a/one"]);
    assert_eq!(fast(&index, "url"), ["a/one"]);
}

#[test]
fn stems_find_forms_and_the_word_itself_counts_more() {
    let index = memory(&[Doc::title("a/forms", "policies"), Doc::title("a/same", "policy")]);
    assert_eq!(fast(&index, "policy"), ["a/same", "a/forms"]);
    assert_eq!(fast(&index, "policies"), ["a/forms", "a/same"]);
    let hit = first(&index, "policy");
    assert_eq!(hit.why.found.first().map(|f| f.how), Some(How::Exact));
}

#[test]
fn accents_and_case_do_not_matter() {
    let index = memory(&[Doc::body("a/x", "Über das Café in Łódź")]);
    for asked in ["uber", "ÜBER", "cafe", "café", "lodz"] {
        assert_eq!(fast(&index, asked), ["a/x"], "{asked}");
    }
}

#[test]
fn stop_words_are_ignored_beside_others_and_found_alone() {
    let index = memory(&[Doc::body("a/the", "to be or not to be"), Doc::body("a/policy", "policy")]);
    let asked = query("the policy of it", Mode::Fast);
    assert_eq!(asked.words().collect::<Vec<_>>(), ["policy"]);
    assert_eq!(asked.ignored(), ["the", "of", "it"]);
    assert_eq!(fast(&index, "to be"), ["a/the"]);
    assert_eq!(fast(&index, "to policy"), ["a/policy"]);
}

#[test]
fn the_last_word_may_be_unfinished() {
    let index = memory(&[Doc::body("a/x", "configuration of servers"), Doc::title("a/y", "Configuration")]);
    assert_eq!(fast(&index, "conf"), ["a/y", "a/x"]);
    assert_eq!(fast(&index, "configurat"), ["a/y", "a/x"]);
    assert_eq!(first(&index, "conf").why.found.first().map(|f| f.how), Some(How::Prefix));
    assert!(fast(&index, "conf zzz").is_empty());
    assert_eq!(ids(&index, "conf zzz", Mode::Comprehensive), ["a/y", "a/x"]);
}

#[test]
fn more_documents_than_are_added_up_at_a_time_are_all_found() {
    // Blocks have 32,768.
    let docs = (0..33_000u32).map(|n| {
        let words = [(2, "even"), (3, "third"), (16_381, "rare")];
        let has = words.iter().filter(|(of, _)| n % of == 0).map(|(_, word)| *word);
        let quality = Some(if (32_700..32_800).contains(&n) { 100 } else { 10 });
        let title = has.collect::<Vec<_>>().join(" ");
        Doc { quality, ..Doc::title(&format!("a/n{n:05}"), &title) }
    });
    let index = Memory::build(docs.map(|doc| doc.analysed())).unwrap();
    let asked = |text: &str| index.search(&query(text, Mode::Fast), Order::Score, 30).unwrap();
    assert_eq!(asked("even").total, 16_500);
    // Both words, and the highest quality: on both sides of the border.
    let both = asked("even third");
    assert_eq!(both.total, 16_500 + 11_000 - 5_500);
    let first: Vec<String> = both.hits.iter().take(17).map(|hit| hit.id.clone()).collect();
    let wanted: Vec<String> = (32_700..32_800).filter(|n| n % 6 == 0).map(|n| format!("a/n{n:05}")).collect();
    assert_eq!(first, wanted);
    let rare: Vec<String> = asked("rare").hits.into_iter().map(|hit| hit.id).collect();
    // The best, then the one whose title says nothing else.
    assert_eq!(rare, ["a/n32762", "a/n16381", "a/n00000"]);
}

#[test]
fn words_that_are_asked_for_beside_it_do_not_make_a_word_less_unfinished() {
    let docs: Vec<Doc> = (0..32).map(|n| Doc::title(&format!("a/{n}"), &format!("optaq{n}x"))).collect();
    let index = memory(&docs);
    for beside in ["", " zzza", " zzza zzzb zzzc", " zzza zzzb zzzc zzzd zzze zzzf zzzg zzzh zzzi"] {
        let asked = query(&format!("opt{beside}"), Mode::Comprehensive);
        assert_eq!(index.search(&asked, Order::Score, 1).unwrap().total, 32, "{beside}");
    }
}

#[test]
fn of_very_many_longer_words_the_commonest_are_found() {
    let rare = (0..600).map(|n| Doc::title(&format!("a/{n}"), &format!("optaq{n}x")));
    let common = (0..3).flat_map(|n| {
        [Doc::body(&format!("b/{n}"), "optional"), Doc::title(&format!("c/{n}"), "optus optzz")]
    });
    let docs: Vec<Doc> = rare.chain(common).collect();
    let mut index = memory(&docs);
    // What changed since counts, too: this word is the first by how many have it.
    for n in 0..5 {
        index.put(Doc::title(&format!("d/{n}"), "optimal").analysed()).unwrap();
    }
    for text in ["opt", "optu", "optz"] {
        let found = fast(&index, text);
        let of = |folder: &str| found.iter().filter(|id| id.starts_with(folder)).count();
        assert_eq!(of("c/"), 3, "{text}");
        assert_eq!((of("b/"), of("d/")), if text == "opt" { (3, 5) } else { (0, 0) }, "{text}");
    }
    let all = index.search(&query("opt", Mode::Fast), Order::Score, 1).unwrap().total;
    // Each of 32 words: four that many have, and those that come first of the others.
    assert_eq!(all, 3 + 3 + 5 + 28);
}

#[test]
fn what_stands_for_a_known_word_is_as_rare_as_that() {
    let mut docs: Vec<Doc> = (0..5).map(|n| Doc::title(&format!("b/{n}"), "cat")).collect();
    docs.push(Doc::title("a/longer", "category"));
    let found = fast(&memory(&docs), "cat");
    assert_eq!((found.len(), found.last().map(String::as_str)), (6, Some("a/longer")));
}

#[test]
fn typos_are_forgiven_where_nothing_has_the_word() {
    let index = memory(&[
        Doc::title("a/token", "token"),
        Doc::title("a/configuration", "configuration"),
        Doc::title("a/database", "database"),
    ]);
    for (asked, found) in [
        ("tokne", "a/token"),
        ("tokem", "a/token"),
        ("toekn", "a/token"),
        ("configuraton", "a/configuration"),
        ("konfigurazyon", ""),
        ("konfigurazion", "a/configuration"),
        ("databsae", "a/database"),
        ("dtabse", ""),
        ("tkn", ""),
    ] {
        let expected: Vec<&str> = if found.is_empty() { Vec::new() } else { vec![found] };
        assert_eq!(fast(&index, asked), expected, "{asked}");
    }
    let hit = first(&index, "tokne");
    assert_eq!(hit.why.found.first().map(|f| (f.how, f.found.as_str())), Some((How::Typo, "token")));
    // 700 of what the word itself has: both take the rarity of the word that is there.
    let exact = first(&index, "token");
    let (typo, exact) = (hit.why.found[0].points, exact.why.found[0].points);
    assert!(typo < exact * 700 / 1000, "{typo} {exact}");
}

#[test]
fn what_very_many_documents_have_is_finished_and_near_everything() {
    let many = (0..50_001).map(|n| Doc::body(&format!("m/{n:05}"), "common"));
    let some = (0..999).map(|n| Doc::body(&format!("s/{n:03}"), "some"));
    let few = [
        Doc::body("z/apart", "common between them rare between them seldom"),
        Doc::body("z/beside", "common rare seldom between them between them"),
        Doc::body("z/sometime", "sometime"),
    ];
    let docs = many.chain(some).chain(few).map(|doc| doc.analysed());
    let mut index = Memory::build(docs.collect::<Vec<_>>()).unwrap();
    let asked = |index: &Memory, text: &str| {
        index.search(&query(text, Mode::Comprehensive), Order::Score, 5).unwrap()
    };
    let near = |text: &str| {
        let found = asked(&index, text);
        ["z/apart", "z/beside"].map(|id| found.hits.iter().find(|hit| hit.id == id).unwrap().why.near)
    };
    assert_eq!(near("common rare"), [0, 0], "only one of them is looked at");
    let [apart, beside] = near("common rare seldom");
    assert!(0 < apart && apart < beside, "{apart} {beside}");
    let total = |index: &Memory, text: &str| asked(index, text).total;
    let before = total(&index, "some rare");
    index.put(Doc::body("s/999", "some").analysed()).unwrap();
    // Now a thousand have it: `sometime` is found where it is the last word alone.
    assert_eq!(total(&index, "some rare"), before);
    assert_eq!(total(&index, "rare some"), before + 1);
}

#[test]
fn what_ten_documents_have_is_no_misspelling() {
    let names: Vec<String> = (0..10).map(|i| format!("a/known-{i}")).collect();
    let mut docs: Vec<Doc> = names.iter().map(|id| Doc::body(id, "retries")).collect();
    docs.push(Doc::body("b/other", "retires"));
    assert!(!ids(&memory(&docs), "retries", Mode::Comprehensive).contains(&"b/other".to_owned()));
    docs.remove(0);
    assert!(ids(&memory(&docs), "retries", Mode::Comprehensive).contains(&"b/other".to_owned()));
}

#[test]
fn with_two_wrong_letters_the_first_one_is_right_unless_nothing_is_found() {
    let docs = [Doc::body("a/far", "xbcdefgy1"), Doc::body("a/near", "abcdefxy1")];
    // Two letters from either.
    assert_eq!(ids(&memory(&docs), "abcdefgh1", Mode::Comprehensive), ["a/near"]);
    assert_eq!(ids(&memory(&docs[..1]), "abcdefgh1", Mode::Comprehensive), ["a/far"]);
}

#[test]
fn in_a_hurry_two_letters_are_forgiven_where_no_word_is_one_letter_off() {
    let index = memory(&[
        Doc::title("a/near", "databases"),
        Doc::body("a/far", "datablase"),
        Doc::body("a/longer", "databassoon"),
    ]);
    // One letter from `databases`, two from `datablase`.
    assert_eq!(fast(&index, "datebases row"), ["a/near"]);
    assert_eq!(ids(&index, "datebases row", Mode::Comprehensive), ["a/near", "a/far"]);
    // Only the last word may be unfinished; what others begin with may still be one letter off.
    assert_eq!(fast(&index, "databass row"), ["a/near"]);
    assert_eq!(fast(&index, "row databass"), ["a/near", "a/longer"]);
    assert_eq!(ids(&index, "row databass", Mode::Comprehensive).len(), 3);
}

#[test]
fn a_stem_that_is_near_does_not_hide_the_word_that_was_meant() {
    // `selecton` is one letter from the stem `selector`, and two from `select`, the stem of what was meant.
    let index = memory(&[Doc::body("a/one", "the selection of rows"), Doc::body("a/two", "a selector")]);
    assert_eq!(ids(&index, "selecton", Mode::Fast).len(), 2);
}

#[test]
fn a_near_word_that_is_elsewhere_does_not_hide_a_farther_one() {
    let ten = (0..10).map(|i| Doc::body(&format!("ui/{i}"), "retries"));
    let ten: Vec<Doc> = ten.chain([Doc::title("backend/far", "retires")]).collect();
    let two = |near: &str, far: &str| vec![Doc::title("ui/near", near), Doc::title("backend/far", far)];
    for (asked, docs) in [
        ("datebases", two("databases", "datablase")),
        // The first letter, too.
        ("abcdefgh1", two("abcdefxy1", "xbcdefgy1")),
        ("abcdefgh1", two("abcdefgx1", "xbcdefgy1")),
        ("retries", ten),
    ] {
        let filters = Filters { category: Some("backend".to_owned()), ..Filters::default() };
        let query = Query::parse(asked, Mode::Comprehensive, filters.clone()).unwrap();
        let index = memory(&docs);
        let found = index.search(&query, Order::Score, 9).unwrap();
        assert_eq!(
            found.hits.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>(),
            ["backend/far"],
            "{asked}"
        );
        // In a hurry what is known is not looked for otherwise.
        let query = Query::parse(asked, Mode::Fast, filters).unwrap();
        assert_eq!(
            index.search(&query, Order::Score, 9).unwrap().total,
            usize::from(asked != "retries"),
            "{asked}"
        );
    }
}

#[test]
fn a_known_word_may_be_misspelt_only_when_looked_for_comprehensively() {
    let index = memory(&[Doc::body("a/one", "cashed"), Doc::body("a/two", "cached")]);
    assert_eq!(fast(&index, "cashed"), ["a/one"]);
    assert_eq!(ids(&index, "cashed", Mode::Comprehensive), ["a/one", "a/two"]);
}

#[test]
fn phrases_must_stand_so_in_one_field() {
    let index = memory(&[
        Doc::body("a/phrase", "the row level security of tables"),
        Doc::body("a/apart", "security for each row, and a level"),
        Doc { title: "row level".into(), body: "security".into(), ..Doc::new("a/fields") },
        Doc { code: "rowLevelSecurity()".into(), ..Doc::new("a/code") },
    ]);
    let mut found = fast(&index, "\"row level security\"");
    found.sort();
    assert_eq!(found, ["a/code", "a/phrase"]);
    assert_eq!(fast(&index, "row level security").len(), 4);
    assert!(fast(&index, "\"level row\"").is_empty());
    let tags = memory(&[Doc { tags: vec!["row".into(), "level".into()], ..Doc::new("a/tags") }]);
    assert!(fast(&tags, "\"row level\"").is_empty());
    assert_eq!(fast(&tags, "row level"), ["a/tags"]);
}

#[test]
fn neighbours_count_more_in_short_fields() {
    let index = memory(&[
        Doc::title("a/apart", "token rotation for each auth"),
        Doc::title("a/together", "auth token rotation for each"),
    ]);
    assert_eq!(fast(&index, "auth token"), ["a/together", "a/apart"]);
    let hit = first(&index, "auth token");
    let pair = hit.why.found.last().unwrap();
    assert_eq!((pair.word.as_str(), pair.how), ("auth token", How::Phrase));
}

#[test]
fn words_that_stand_together_count_more_when_looked_for_comprehensively() {
    let filler = "lorem ipsum dolor sit amet consectetur ".repeat(5);
    let index = memory(&[
        Doc::body("a/apart", &format!("retry {filler} backoff")),
        Doc::body("a/together", &format!("{filler} retry backoff")),
    ]);
    assert_eq!(fast(&index, "retry backoff"), ["a/apart", "a/together"]);
    assert_eq!(ids(&index, "retry backoff", Mode::Comprehensive), ["a/together", "a/apart"]);
    let answer = index.search(&query("retry backoff", Mode::Comprehensive), Order::Score, 1).unwrap();
    assert_eq!(answer.hits[0].why.near, 200);
}

#[test]
fn excluded_words_exclude() {
    let index = three();
    assert_eq!(fast(&index, "auth -services"), ["auth/use-auth-token"]);
    assert_eq!(fast(&index, "auth -\"token handling\""), ["auth/use-auth-token"]);
    assert_eq!(fast(&index, "auth -zzz").len(), 2);
    assert!(fast(&index, "-auth").is_empty());
}

#[test]
fn filters_are_held_to_before_the_best_are_taken() {
    let doc = |id: &str, quality, executable, verified| Doc {
        quality,
        executable,
        verified,
        ..Doc::title(id, "policy")
    };
    let index = memory(&[
        doc("db/a", Some(90), true, true),
        doc("db/b", Some(60), false, false),
        doc("web/c", None, true, false),
    ]);
    let with = |filters: Filters| -> Vec<String> {
        let query = Query::parse("policy", Mode::Fast, filters).unwrap();
        index.search(&query, Order::Score, 9).unwrap().hits.into_iter().map(|h| h.id).collect()
    };
    assert_eq!(with(Filters::default()), ["db/a", "db/b", "web/c"]);
    assert_eq!(with(Filters { category: Some("db".into()), ..Filters::default() }), ["db/a", "db/b"]);
    assert_eq!(with(Filters { minimum_quality: Some(61), ..Filters::default() }), ["db/a"]);
    assert_eq!(with(Filters { minimum_quality: Some(60), ..Filters::default() }), ["db/a", "db/b"]);
    assert_eq!(with(Filters { verified_only: true, ..Filters::default() }), ["db/a"]);
    assert_eq!(with(Filters { executable_only: true, ..Filters::default() }), ["db/a", "web/c"]);
    assert!(with(Filters { category: Some("none".into()), ..Filters::default() }).is_empty());
}

#[test]
fn by_quality_come_the_best_and_those_without_last() {
    let doc = |id: &str, quality| Doc { quality, ..Doc::title(id, "policy") };
    let mut index = memory(&[
        doc("web/b", None),
        doc("db/z", Some(70)),
        doc("web/a", Some(70)),
        doc("db/a", Some(70)),
        doc("db/top", Some(95)),
        Doc { quality: Some(99), ..Doc::title("db/other", "else") },
    ]);
    index.put(doc("api/a", Some(70)).analysed()).unwrap();
    let by_quality = |text: &str, most| {
        let answer = index.search(&query(text, Mode::Fast), Order::Quality, most).unwrap();
        (answer.hits.into_iter().map(|h| h.id).collect::<Vec<_>>(), answer.total)
    };
    let expected = ["db/top", "api/a", "db/a", "web/a", "db/z", "web/b"].map(str::to_owned);
    assert_eq!(by_quality("policy", 9), (expected.to_vec(), 6));
    assert_eq!(by_quality("policy", 2), (expected[..2].to_vec(), 6));
    assert_eq!(by_quality("", 2), (vec!["db/other".to_owned(), "db/top".to_owned()], 7));
    assert_eq!(by_quality("-else", 1), (vec!["db/top".to_owned()], 6));
}

#[test]
fn quality_and_use_weigh_a_little() {
    let doc = |id: &str, quality, verified| Doc { quality, verified, ..Doc::title(id, "policy") };
    let index = memory(&[
        doc("a/bad", Some(10), false),
        doc("a/good", Some(95), false),
        doc("a/none", None, false),
        doc("a/used", None, true),
    ]);
    assert_eq!(fast(&index, "policy"), ["a/good", "a/used", "a/none", "a/bad"]);
}

#[test]
fn fields_weigh_and_are_told() {
    let index = memory(&[
        Doc::new("a/policy"),
        Doc::title("b/x", "policy"),
        Doc { description: "policy".into(), ..Doc::new("c/x") },
        Doc { headings: vec!["policy".into()], ..Doc::new("d/x") },
        Doc::body("e/x", &format!("policy {}", "word ".repeat(300))),
    ]);
    assert_eq!(fast(&index, "policy"), ["a/policy", "b/x", "c/x", "d/x", "e/x"]);
    assert_eq!(first(&index, "policy").why.found[0].fields, [Field::Name]);
}

#[test]
fn scripts_without_spaces_are_found_by_pairs() {
    let index = memory(&[Doc::body("a/ja", "認証トークンの更新"), Doc::body("a/zh", "数据库连接池")]);
    assert_eq!(fast(&index, "トークン"), ["a/ja"]);
    assert_eq!(fast(&index, "数据库"), ["a/zh"]);
    assert_eq!(fast(&index, "\"数据库连接\""), ["a/zh"]);
    assert_eq!(fast(&index, "認"), ["a/ja"]);
}

#[test]
fn libraries_are_searched_as_one() {
    let all = [
        Doc::title("a/one", "auth token"),
        Doc::title("b/two", "auth"),
        Doc::body("c/three", "token of a service"),
        Doc::title("d/four", "service"),
    ];
    let (left, right) = (memory(&all[..2]), memory(&all[2..]));
    for asked in ["auth", "auth token", "tokn", "serv", "\"auth token\"", "token -auth"] {
        for mode in [Mode::Fast, Mode::Comprehensive] {
            let asked = query(asked, mode);
            let one = memory(&all).search(&asked, Order::Score, 9);
            let two = Memory::search_all(&[&left, &right], &asked, Order::Score, 9);
            assert_eq!(crate::common::told(&one), crate::common::told(&two), "{asked:?}");
        }
    }
    let same = memory(&all[..1]);
    let two = Memory::search_all(&[&same, &same], &query("auth", Mode::Fast), Order::Score, 9).unwrap();
    assert_eq!(two.hits.iter().map(|h| h.library).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn questions_have_limits() {
    let long = Query::parse(&"x ".repeat(129), Mode::Fast, Filters::default());
    assert_eq!(long, Err(SearchError::QueryTooLong(258)));
    let words: Vec<String> = (0..20).map(|n| format!("word{n}")).collect();
    let asked = query(&words.join(" "), Mode::Fast);
    assert_eq!((asked.words().count(), asked.ignored().len()), (16, 4));
    assert!(query(" -- \" … ", Mode::Fast).is_empty());
}

#[test]
fn unknown_ids_have_near_ones() {
    let mut index = memory(&[
        Doc::new("database/rls-policy"),
        Doc::new("database/rls-policies-all"),
        Doc::new("web/fetch-retry"),
        Doc::new("web/rls-policy"),
    ]);
    assert_eq!(index.nearest("database/rls-polcy", 3), ["database/rls-policy", "web/rls-policy"]);
    assert_eq!(index.nearest("api/fetch-retry", 3), ["web/fetch-retry"]);
    assert_eq!(index.nearest("Database/RLS-policy", 1), ["database/rls-policy"]);
    assert!(index.nearest("zzz/nothing-like-it", 3).is_empty());
    index.remove("web/fetch-retry").unwrap();
    index.put(Doc::new("web/fetch-retries").analysed()).unwrap();
    assert_eq!(index.nearest("web/fetch-retry", 3), Vec::<String>::new());
    assert_eq!(index.nearest("web/fetch-retreis", 3), ["web/fetch-retries"]);
}

#[test]
fn analysed_documents_come_back_from_their_bytes() {
    let doc =
        Doc {
            quality: Some(85), verified: true, code: "a.b(useX)".into(), ..Doc::body("a/b", "Text 日本")
        };
    let analysed = doc.analysed();
    let bytes = analysed.encode();
    assert_eq!(Analysed::decode(&bytes), Ok(analysed));
    let mut other = bytes.clone();
    other[0] = 9;
    assert_eq!(Analysed::decode(&other), Err(SearchError::Version { found: 9, wanted: 1 }));
}
