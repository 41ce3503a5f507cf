//! The frame of every page: head, navigation, assets.

use crate::site::Site;
use axum::response::Html;
use maud::{DOCTYPE, Markup, html};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The item of the navigation that a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NavItem {
    /// Runs.
    Runs,
    /// Figures over time.
    Trends,
    /// Runs under way.
    Live,
    /// The machine.
    Machine,
    /// The form that starts a run.
    Start,
    /// No item.
    None,
    /// The login page, without navigation.
    LoggedOut,
}

/// A file that is part of the program.
pub struct Asset {
    /// Its address.
    pub path: &'static str,
    /// Its content type.
    pub kind: &'static str,
    /// Its content.
    pub text: LazyLock<String>,
}

/// The files that pages load.
pub static ASSETS: [Asset; 4] = [
    Asset {
        path: "/style.css",
        kind: "text/css; charset=utf-8",
        // The style of reports comes first, then that of the pages around them.
        text: LazyLock::new(|| {
            report::html::style().to_owned() + include_str!("../assets/style.css")
        }),
    },
    Asset {
        path: "/fathom.js",
        kind: "text/javascript; charset=utf-8",
        text: LazyLock::new(|| include_str!("../assets/fathom.js").to_owned()),
    },
    Asset {
        path: "/charts.js",
        kind: "text/javascript; charset=utf-8",
        text: LazyLock::new(|| include_str!("../assets/charts.js").to_owned()),
    },
    Asset {
        path: "/icon.svg",
        kind: "image/svg+xml",
        text: LazyLock::new(|| include_str!("../assets/icon.svg").to_owned()),
    },
];

/// A digest of the assets, so that browsers may cache them.
pub static ASSETS_VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    ASSETS.iter().for_each(|asset| digest.update(asset.text.as_bytes()));
    digest.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
});

/// A page around `body`.
pub fn page(site: &Site, title: &str, item: NavItem, body: Markup) -> Html<String> {
    page_with(site, title, item, html! {}, body)
}

/// A page around `body`, with additions to its head.
pub fn page_with(
    site: &Site,
    title: &str,
    item: NavItem,
    head: Markup,
    body: Markup,
) -> Html<String> {
    let links = [
        (NavItem::Runs, "/runs", "Runs"),
        (NavItem::Trends, "/trends", "Trends"),
        (NavItem::Live, "/live", "Live"),
        (NavItem::Machine, "/machine", "Machine"),
        (NavItem::Start, "/start", "Start"),
    ];
    let links =
        links.into_iter().filter(|(at, ..)| *at != NavItem::Start || site.launcher().is_some());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · fathom" }
                link rel="icon" href={ "/icon.svg?v=" (*ASSETS_VERSION) };
                link rel="stylesheet" href={ "/style.css?v=" (*ASSETS_VERSION) };
                script src={ "/fathom.js?v=" (*ASSETS_VERSION) } defer {}
                script src={ "/charts.js?v=" (*ASSETS_VERSION) } defer {}
                (head)
            }
            body {
                a.skip href="#main" { "To the content" }
                header.site {
                    a.name href="/" { "fathom" }
                    @if item != NavItem::LoggedOut {
                        nav aria-label="Pages" {
                            @for (at, path, name) in links {
                                a href=(path) aria-current=[(at == item).then_some("page")] { (name) }
                            }
                        }
                        // Anybody may see an error page; it must not hold the CSRF secret.
                        @if item != NavItem::None {
                            form.leave method="post" action="/logout" {
                                (csrf(site))
                                button.quiet { "Log out" }
                            }
                        }
                    }
                }
                main #main tabindex="-1" { (body) }
            }
        }
    };
    Html(page.into_string())
}

/// The hidden field with the CSRF secret, which every form has.
pub fn csrf(site: &Site) -> Markup {
    html! { input type="hidden" name="csrf" value=(site.guard().csrf()); }
}
