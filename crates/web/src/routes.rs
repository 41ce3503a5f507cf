//! The routes of the pages.

use crate::failure::Failure;
use crate::layout::{ASSETS, Asset};
use crate::pages::{compare, live, machine, run, runs, start, sweep, trends};
use crate::site::Site;
use crate::{access, api, metrics};
use axum::Router;
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use std::time::Duration;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

/// Time until the response to a request must begin.
const PATIENCE: Duration = Duration::from_secs(60);

/// All routes with their middleware.
pub fn router(site: Site) -> Router {
    let assets = ASSETS.iter().fold(Router::new(), |router: Router<Site>, asset| {
        router.route(asset.path, get(move || async move { file(asset) }))
    });
    let pages = Router::new()
        .route("/", get(runs::home))
        .route("/login", get(access::login_form).post(access::login))
        .route("/logout", post(access::logout))
        .route("/runs", get(runs::page))
        .route("/runs/{id}", get(run::page))
        .route("/runs/{id}/record.json", get(run::record))
        .route("/runs/{id}/tag", post(run::tag))
        .route("/runs/{id}/untag", post(run::untag))
        .route("/runs/{id}/note", post(run::set_note))
        .route("/runs/{id}/remove", get(run::asked_to_remove).post(run::remove))
        .route("/sets/{id}", get(sweep::page))
        .route("/compare", get(compare::page))
        .route("/trends", get(trends::page))
        .route("/machine", get(machine::page))
        .route("/live", get(live::list))
        .route("/live/{pid}", get(live::run))
        .route("/live/{pid}/events", get(live::events))
        .route("/start", get(start::page).post(start::start))
        .route("/metrics", get(metrics::answer));
    pages
        .merge(assets)
        .merge(api::router())
        .fallback(|| async { Failure::not_found("There is no such page.") })
        .layer(from_fn_with_state(site.clone(), access::admit))
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, PATIENCE))
        .layer(CatchPanicLayer::custom(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response()))
        .layer(from_fn_with_state(site.clone(), access::add_headers))
        .with_state(site)
}

/// An asset. Its address changes with its content, so browsers may cache it.
fn file(asset: &'static Asset) -> Response {
    let kept = "public, max-age=31536000, immutable";
    let lines = [(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, kept)];
    (lines, asset.text.as_str()).into_response()
}
