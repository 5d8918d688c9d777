//! Admission of requests: only pages of this server that have its token, a limited number at a time.
//!
//! * `Host` must be this server, so that requests under another host name that resolves to 127.0.0.1 are refused.
//! * `Origin`, if present, must be this server. There are no CORS headers, so other sites cannot read answers.
//! * The token of 128 random bits is in the address for pages and their files, and in the header `X-Tailspn-Token` for
//!   questions.

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use tokio::sync::Semaphore;

use crate::cli::serve::reply::Refusal;

/// Maximum number of bytes of the body of a request.
pub(crate) const MOST_BODY_BYTES: usize = 1_000_000;

/// Maximum number of requests that are answered at a time.
const MOST_REQUESTS: usize = 64;

/// The header of the token.
const TOKEN_HEADER: &str = "x-tailspn-token";

/// Content security policy of the page: scripts are files of this server, styles may be in pictures, and no
/// other sources are allowed.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The rules for admitting requests.
#[derive(Debug)]
pub(crate) struct Guard {
    token: String,
    hosts: [String; 2],
    room: Semaphore,
}

impl Guard {
    /// Makes the rules for a port, with a new token.
    pub(crate) fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        let mut token = String::with_capacity(2 * bits.len());
        for byte in bits {
            let _ = write!(token, "{byte:02x}");
        }
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        Ok(Self { token, hosts, room: Semaphore::new(MOST_REQUESTS) })
    }

    /// Returns the address of the page, with the token.
    pub(crate) fn address(&self) -> String {
        format!("http://{}/?token={}", self.hosts[0], self.token)
    }

    /// Returns the token, for the addresses of the page's files.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    fn check(&self, request: &Request) -> Result<(), Refusal> {
        let headers = request.headers();
        let forbidden = |message| Refusal::new(StatusCode::FORBIDDEN, message);
        let host = only(headers, header::HOST.as_str()).ok_or_else(|| forbidden("the request has no host"))?;
        if !self.hosts.iter().any(|own| own == host) {
            return Err(forbidden("the request is for another host"));
        }
        let is_own =
            |origin: &str| origin.strip_prefix("http://").is_some_and(|host| self.hosts.iter().any(|own| own == host));
        if headers.contains_key(header::ORIGIN) && !only(headers, header::ORIGIN.as_str()).is_some_and(is_own) {
            return Err(forbidden("the request comes from another site"));
        }
        let token = if is_question(request.uri().path()) {
            only(headers, TOKEN_HEADER)
        } else {
            request.uri().query().and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("token=")))
        };
        if !token.is_some_and(|token| is_same(token.as_bytes(), self.token.as_bytes())) {
            return Err(forbidden("the token is missing or wrong; open the address that `tailspn serve` printed"));
        }
        let length = only(headers, header::CONTENT_LENGTH.as_str()).and_then(|length| length.parse::<usize>().ok());
        if length.is_some_and(|length| length > MOST_BODY_BYTES) {
            let message = format!("the request is larger than {MOST_BODY_BYTES} bytes");
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message));
        }
        Ok(())
    }
}

/// Returns true for the path of a data request, such as `/job/start`, or `/2/job/start` for the second of several
/// pages.
fn is_question(path: &str) -> bool {
    let mut parts = path.split('/').skip(1).skip_while(|part| part.parse::<usize>().is_ok());
    parts.next().is_some_and(|part| ["net", "job", "log"].contains(&part)) && parts.next().is_some()
}

/// Returns the value of a header that occurs exactly once.
fn only<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Compares two texts in a time that depends on their lengths only.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    let difference = left.iter().zip(right).fold(0, |difference, (a, b)| black_box(difference | (a ^ b)));
    left.len() == right.len() && difference == 0
}

/// Answers a request if the rules admit it.
pub(crate) async fn admit(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.check(&request) {
        Err(refusal) => refusal.response(),
        Ok(()) => match guard.room.try_acquire() {
            Err(_) => Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too many requests at a time").response(),
            Ok(_permit) => next.run(request).await,
        },
    };
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_told_from_pages() {
        for path in ["/net/start", "/2/job/start", "/log/"] {
            assert!(is_question(path), "{path}");
        }
        for path in ["/", "/2", "/net.js", "/2/net.js", "/net", "//", "/x/net/start"] {
            assert!(!is_question(path), "{path}");
        }
    }

    #[test]
    fn tokens_are_new_each_time_and_compared_whole() {
        let [a, b] = [Guard::new(1).unwrap(), Guard::new(1).unwrap()];
        assert_eq!(a.token().len(), 32);
        assert_ne!(a.token(), b.token());
        assert!(is_same(b"abc", b"abc"));
        assert!(!is_same(b"abc", b"abd") && !is_same(b"abc", b"ab") && !is_same(b"", b"a"));
    }
}
