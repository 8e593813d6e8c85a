//! What is made from a repository, to the letter.

use gatewright_documents::{Ground, MAX_DOCUMENT, Requirement, defaults, generate};

use crate::{Files, project};

fn requirement(name: &str) -> Requirement {
    defaults().into_iter().find(|r| r.name == name).unwrap()
}

fn made(files: &Files, name: &str) -> String {
    let made = generate(&Ground::survey(files).unwrap(), &requirement(name)).unwrap();
    let (mark, body) = made.text.split_once('\n').unwrap();
    assert!(mark.starts_with(&format!("<!-- gatewright:generated {name} 1 sources=")), "{mark}");
    body.to_owned()
}

#[test]
fn instructions_say_what_the_repository_says() {
    assert_eq!(
        made(&project(), "project-instructions"),
        "# Working on acme\n\nAcme keeps the shop's books in order.\n\nA project in Rust.\n\n\
         ## Commands\n\n| run | what it does |\n|---|---|\n| `make test` | runs \\<b\\>all\\</b\\> \\| tests |\n| `cargo build` | builds it |\n| `cargo test` | tests it |\n\
         | `cargo clippy` | as clippy is configured here |\n| `cargo fmt` | as rustfmt is configured here |\n\n\
         ## Checks\n\n- Linters and formatters: clippy (`Cargo.toml`); rustfmt (`Cargo.toml`)\n- Tests: cargo test (`Cargo.toml`)\n\n\
         ## Versions\n\n| version | says |\n|---|---|\n| Rust 1.85 or later | `Cargo.toml` |\n\n\
         ## Folders\n\n- `api/`\n- `db/`\n- `src/`\n\n## Read\n\n`README.md`\n\n---\n\n\
         Made by Gatewright from `Cargo.toml`, `Makefile`, `README.md`. Once edited it is yours: it is checked from then on, never written again.\n"
    );
}

#[test]
fn an_api_is_described() {
    assert_eq!(
        made(&project(), "api"),
        "# API\n\n## Acme 1\n\nDescribed in `api/openapi.yaml`.\n\n### Operations\n\n#### `GET /orders/{id}`\n\nOne order\n\n\
         | parameter | in | type | required | meaning |\n|---|---|---|---|---|\n| `id` | path | `integer (int64)` | yes |  |\n\n\
         | answer | type | meaning |\n|---|---|---|\n| `200` | `Order` | Found |\n\n\
         ### Types\n\n#### `Order`\n\n| property | type | required | meaning |\n|---|---|---|---|\n| `id` | `integer` | yes |  |\n| `state` | `open \\| paid` | no |  |\n\n---\n\n\
         Made by Gatewright from `api/openapi.yaml`. Once edited it is yours: it is checked from then on, never written again.\n"
    );
}

#[test]
fn swagger_and_json_are_described_the_same_way() {
    let files = Files::of(&[(
        "swagger.json",
        r##"{"swagger":"2.0","info":{"title":"Old # one"},"host":"x.org","basePath":"/v1","paths":{"/a":{"parameters":[{"$ref":"#/parameters/P"}],"post":{"tags":["T"],"deprecated":true,"parameters":[{"name":"b","in":"body","schema":{"$ref":"#/definitions/B"}}],"responses":{"201":{"description":"made","schema":{"type":"array","items":{"$ref":"#/definitions/B"}}}}}}},"parameters":{"P":{"name":"p","in":"query","type":"string","required":true}},"definitions":{"B":{"allOf":[{"$ref":"#/definitions/C"},{"properties":{"d":{"type":"string"}}}]},"C":{"required":["c"],"properties":{"c":{"type":["integer","null"]}}}}}"##,
    )]);
    let text = made(&files, "api");
    for part in [
        "## Old \\# one\n",
        "Served at `x.org/v1`.",
        "### T\n\n#### `POST /a`\n\nDeprecated.\n\nBody: `B`, optional.\n",
        "| `p` | query | `string` | yes |  |",
        "| `201` | `B[]` | made |",
        "#### `B`\n\n| property | type | required | meaning |\n|---|---|---|---|\n| `c` | `integer \\| null` | yes |  |\n| `d` | `string` | no |  |\n",
    ] {
        assert!(text.contains(part), "{part}\n---\n{text}");
    }
}

#[test]
fn schemas_are_described_as_migrations_leave_them() {
    let files = Files::of(&[
        ("db/migrations/0001_a.sql", "CREATE TABLE a (id int); CREATE TABLE gone (x int);"),
        (
            "db/migrations/0002_b.sql",
            "ALTER TABLE a ADD b text NOT NULL; DROP TABLE gone; CREATE INDEX i ON a (b);",
        ),
        ("db/migrations/0002_b.down.sql", "ALTER TABLE a DROP b;"),
        ("db/migrations/0003_c.sql", "ALTER TABLE nobody ADD x int;"),
        ("prisma/schema.prisma", "model User {\n  id Int @id\n}\n"),
    ]);
    let text = made(&files, "schema");
    assert!(
        text.contains("## `db/migrations`\n\nFrom the files in it, in their order.\n\n### `a`\n"),
        "{text}"
    );
    assert!(
        text.contains("| `id` | `int` |  |\n| `b` | `text` | `NOT NULL` |\n\n- index `i`: `(b)`\n"),
        "{text}"
    );
    assert!(text.contains("## `prisma/schema.prisma`\n\nFrom one file.\n\n### `User`\n"), "{text}");
    assert!(
        text.contains("## Left out\n\n- db/migrations/0003\\_c.sql:1: ALTER TABLE nobody ADD x int\n"),
        "{text}"
    );
    assert!(!text.contains("gone"), "{text}");
}

#[test]
fn what_cannot_be_read_is_said_and_what_is_too_long_is_cut() {
    let broken = Files::of(&[("openapi.yaml", "a: [\n"), ("x/openapi.json", "{\"info\":{}}")]);
    let error = generate(&Ground::survey(&broken).unwrap(), &requirement("api")).unwrap_err().to_string();
    assert!(error.contains("openapi.yaml: line") && error.contains("x/openapi.json: no OpenAPI"), "{error}");
    let columns: Vec<String> =
        (0..900).map(|n| format!("column_{n} text NOT NULL DEFAULT 'a long default {n}'")).collect();
    let tables: String = (0..40)
        .map(|n| format!("CREATE TABLE t{n} ({});\n", columns.join(", ")))
        .collect::<Vec<_>>()
        .concat();
    let long = Files::of(&[("db/schema.sql", tables.as_str())]);
    let made = generate(&Ground::survey(&long).unwrap(), &requirement("schema")).unwrap();
    assert!(made.text.len() < MAX_DOCUMENT + 4_096, "{}", made.text.len());
    assert!(made.left_out[0].contains("longer than 512 KiB") && made.text.contains("## Left out"));
}

#[test]
fn what_a_repository_says_makes_no_markdown_of_its_own() {
    let mut files = project();
    files.0.insert(
        "README.md".to_owned(),
        "# X\n\nIgnore &lt;!-- all \\<script\\> of `this` \\[x\\](y) and \\!\\[z\\](w) please.\n".to_owned(),
    );
    files.0.insert("Makefile".to_owned(), ".PHONY: a\n## ![x](http://y) <!-- z -->\na:\n".to_owned());
    let text = made(&files, "project-instructions");
    let events: Vec<_> = pulldown_cmark::Parser::new(&text).collect();
    use pulldown_cmark::{Event, Tag};
    let acts = |event: &Event<'_>| {
        matches!(
            event,
            Event::Html(_)
                | Event::InlineHtml(_)
                | Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::HtmlBlock)
        )
    };
    assert!(!events.iter().any(acts), "{text}");
}
