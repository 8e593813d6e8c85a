//! How good the search for contradictions is, on invented pairs: 60 that were there before the search was written, and with
//! which it was thought through, and 40 that were written afterwards and that nothing was changed for.

use gatewright_library::contradict::{Claim, conflicts};
use gatewright_library::notes::NoteId;

/// Pairs that contradict each other.
const YES: [(&str, &str); 30] = [
    ("Use Redis for sessions", "Do not use Redis for sessions"),
    ("Never store tokens in localStorage", "Store access tokens in localStorage"),
    ("Use PostgreSQL for the job queue", "Use RabbitMQ for the job queue"),
    ("We chose Vitest for unit tests", "We choose Jest for unit tests"),
    ("Prefer tabs for indentation", "Prefer spaces for indentation"),
    ("Avoid default exports in modules", "Use default exports in modules"),
    ("Retry failed payments three times", "Don't retry failed payments"),
    ("API responses are paginated by cursor", "API responses are paginated by offset"),
    ("Use UUIDs as primary keys", "Use integers as primary keys"),
    ("Deploying on Fridays is allowed", "Never deploy on Fridays"),
    ("Feature flags live in the database", "Feature flags live in environment variables"),
    ("Stop logging request bodies", "Log request bodies"),
    ("Use MySQL instead of Postgres", "Use Postgres instead of MySQL"),
    ("All timestamps are stored in UTC", "Timestamps are stored in local time, not UTC"),
    ("Use GraphQL for the public API", "Use REST for the public API"),
    ("Migrations must be reversible", "Migrations need not be reversible"),
    ("No ORM: write SQL by hand", "Use an ORM"),
    ("Cache search results for five minutes", "Do not cache search results"),
    ("The session cookie is SameSite=Strict", "The session cookie is SameSite=Lax"),
    ("Use pnpm for package management", "Switch to npm for package management"),
    ("Mock the database in integration tests", "Never mock the database in integration tests"),
    ("Error messages must not contain user ids", "Error messages contain user ids"),
    ("Choose Kafka for event streaming", "For event streaming we use NATS"),
    ("Avoid recursion in the parser", "The parser uses recursion"),
    ("Commit lock files", "Don't commit lock files"),
    ("Use feature branches", "Work on trunk, no feature branches"),
    ("Validate input at the controller", "Validate input in the service layer, not at the controller"),
    ("Images are resized on upload", "Images are resized on first request"),
    ("We can't use WebSockets behind the proxy", "Use WebSockets behind the proxy"),
    ("Use one repository for all services", "Use a repository per service"),
];

/// Pairs that do not.
const NO: [(&str, &str); 30] = [
    ("Use Redis for sessions", "Use Redis for rate limiting"),
    ("Do not use Redis for sessions", "Use Redis for caching"),
    ("Use PostgreSQL for the job queue", "Use PostgreSQL for reporting"),
    ("Use Postgres instead of MySQL", "Postgres is used, MySQL is not"),
    ("Never store tokens in localStorage", "Do not store tokens in localStorage"),
    ("Use Vitest for unit tests", "Use Playwright for end-to-end tests"),
    ("Avoid default exports", "Do not use default exports"),
    ("Don't retry failed payments", "Retry failed webhooks"),
    ("Use TypeScript for the frontend", "Use Rust for the backend"),
    ("Log request ids", "Do not log request bodies"),
    ("Timestamps are stored in UTC", "Timestamps are stored in UTC, not in local time"),
    ("Never deploy on Fridays", "Deploy on Mondays"),
    ("Commit lock files", "Don't commit build output"),
    ("Use REST for the public API", "Use gRPC between internal services"),
    ("Cache search results", "Do not cache account pages"),
    ("Use cursors for pagination", "Do not use offsets for pagination"),
    ("Prefer composition over inheritance", "Avoid deep inheritance"),
    ("Error messages must not contain user ids", "Log entries contain user ids"),
    ("Use pnpm for package management", "Use Turborepo for task running"),
    ("Migrations must be reversible", "Migrations run in a transaction"),
    ("Use Redis, not Memcached, for caching", "Use Redis for caching"),
    ("Do not mock the database in integration tests", "Mock the clock in integration tests"),
    ("Use feature flags for risky changes", "Remove feature flags after release"),
    (
        "No secrets in environment variables",
        "Secrets are read from the vault, not from environment variables",
    ),
    ("Rate limit login to five attempts", "Don't rate limit health checks"),
    ("Stop using moment.js", "Use date-fns for dates, not moment.js"),
    ("Use argon2 for password hashes", "Use HMAC for webhook signatures"),
    ("The parser must not recurse", "The parser must not allocate"),
    ("Avoid global state in services", "No global state in services"),
    ("Use dark mode by default", "Do not use animations by default"),
];

/// Pairs that contradict each other, written afterwards.
const HELD_YES: [(&str, &str); 20] = [
    ("All services log to stdout", "Services must not log to stdout"),
    ("Use Tailwind for styling", "Use CSS modules for styling"),
    ("We will not support Internet Explorer", "Internet Explorer must be supported"),
    ("Keep the monolith", "Split the monolith into services"),
    ("Sign commits with GPG", "Signing commits is not required"),
    ("Use optimistic locking on orders", "Use pessimistic locking on orders"),
    ("Never rebase shared branches", "Rebase shared branches before merging"),
    ("Store prices as floats", "Prices must never be stored as floats"),
    ("Use npm workspaces", "Stop using npm workspaces, move to pnpm"),
    ("Admins may impersonate users", "Nobody may impersonate users"),
    ("Prefer async handlers over sync ones", "Handlers should be synchronous"),
    ("Use Docker Compose for local development", "Don't use Docker for local development"),
    ("Require two reviewers", "One reviewer is enough"),
    ("Send emails synchronously", "Send emails through the queue, never synchronously"),
    ("Use soft deletes for customers", "Customers are hard deleted, no soft deletes"),
    ("Pick Svelte for the dashboard", "Pick React for the dashboard"),
    ("No third-party scripts on the checkout page", "Load the analytics script on the checkout page"),
    ("Tests may access the network", "Tests cannot access the network"),
    ("Use snake_case for JSON keys", "JSON keys are camelCase"),
    ("Avoid singletons", "Make the config a singleton"),
];

/// Pairs that do not, written afterwards.
const HELD_NO: [(&str, &str); 20] = [
    ("Use Tailwind for styling", "Do not use inline styles"),
    ("All services log to stdout", "Do not log secrets"),
    ("Never rebase shared branches", "Rebase your own branch before a merge"),
    ("Store prices as integers", "Never store prices as floats"),
    ("Use Svelte for the dashboard", "Use Storybook for components"),
    ("Require two reviewers", "Do not require reviews for documentation"),
    ("Send emails through the queue", "Do not send SMS through the queue"),
    ("Tests cannot access the network", "End-to-end tests run nightly"),
    ("Use soft deletes for customers", "Hard delete sessions after a day"),
    ("No third-party scripts on the checkout page", "No inline scripts on the checkout page"),
    ("Use Docker Compose for local development", "Use Kubernetes for staging"),
    ("Admins may impersonate users", "Impersonation is not logged twice"),
    ("Don't use Lodash", "Use native array methods, not Lodash"),
    ("Use feature flags for releases", "Use tags for releases"),
    ("Avoid singletons", "Do not add singletons to the core"),
    ("Use zod for validation", "Validation happens at the edge"),
    ("Do not cache prices", "Cache product images"),
    ("Keep the API stable", "Do not break the API without a major version"),
    ("Use S3 for uploads", "Do not use S3 for temporary files"),
    ("Write migrations by hand", "Never edit applied migrations by hand"),
];

fn found(pair: (&str, &str)) -> bool {
    let id = |text: &str| NoteId::of("decision", "", text);
    let claims = [pair.0, pair.1].map(|content| Claim { id: id(content), content, subject: None });
    !conflicts(&claims).found.is_empty()
}

/// Precision and recall, in percent.
#[allow(clippy::print_stdout, reason = "what was measured is to be read")]
fn measure(name: &str, yes: &[(&str, &str)], no: &[(&str, &str)]) -> (usize, usize) {
    let missed: Vec<_> = yes.iter().filter(|pair| !found(**pair)).collect();
    let invented: Vec<_> = no.iter().filter(|pair| found(**pair)).collect();
    let (hits, wrong) = (yes.len() - missed.len(), invented.len());
    let (precision, recall) = (100 * hits / (hits + wrong).max(1), 100 * hits / yes.len());
    println!(
        "possible contradictions, {name}, {} pairs: precision {precision} %, recall {recall} %",
        yes.len() + no.len()
    );
    for (a, b) in missed {
        println!("  missed: {a} / {b}");
    }
    for (a, b) in invented {
        println!("  invented: {a} / {b}");
    }
    (precision, recall)
}

#[test]
fn most_conflicts_are_found_and_hardly_any_is_invented() {
    let (precision, recall) = measure("known", &YES, &NO);
    assert!(precision >= 95 && recall >= 80, "known: precision {precision} %, recall {recall} %");
    let (precision, recall) = measure("held out", &HELD_YES, &HELD_NO);
    assert!(precision >= 80 && recall >= 60, "held out: precision {precision} %, recall {recall} %");
}
