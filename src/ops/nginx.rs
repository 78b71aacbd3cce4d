//! The configuration of an nginx in front: a template beside this file, and the settings in it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use crate::config::{AROUND_FILE, Auth, Config, KEEP_ALIVE};
use crate::error::{Error, Problem, Result};

const TEMPLATE: &str = include_str!("nginx.conf");

/// What nginx gives a client beyond the server's own time-out, so that the server's word comes
/// first: what lies in the kernel between the two still moves when the client has stopped.
const BEYOND: Duration = Duration::from_secs(30);
/// What nginx waits for the next byte, beyond the limits that the server has.
const SILENCE: Duration = Duration::from_hours(1);
/// By how much nginx lets go of an idle connection before the server does.
const BEFORE: Duration = Duration::from_secs(1);

/// The lines that depend on whether callers say who they are.
struct Callers {
    listen: &'static str,
    admitted: &'static str,
    forwarded: &'static str,
}

/// Behind nginx every request comes from this machine, so nginx has to hold to that itself.
const OPEN: Callers = Callers {
    listen: "listen 127.0.0.1:{{port}} sndbuf=512k;",
    admitted: "\
# auth is \"off\": the server answers its own machine alone, and so must nginx. With
    # auth = \"required\", print this again.
    allow 127.0.0.1;
    deny all;",
    forwarded: "\
# No X-Forwarded-For from here, which an open server refuses. That of a proxy before this
        # one passes, and is refused.",
};

const KEYED: Callers = Callers {
    listen: "\
listen {{port}} sndbuf=512k;
    #     listen [::]:{{port}} sndbuf=512k;",
    admitted: "\
# auth is \"required\": every caller sends a key in Authorization, which passes through.",
    forwarded: "\
# Where a request came from. A server whose auth was switched off refuses what says so.
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header X-Forwarded-Host $http_host;",
};

/// What is to be known of an nginx, beside the server's settings.
#[derive(Debug, Clone)]
pub struct Site {
    /// The port that it listens on.
    pub port: u16,
    /// The names that it answers to, as `server_name` takes them; without any, every name, or
    /// `localhost` where the server answers its own machine alone.
    pub server_names: Vec<String>,
}

/// A configuration for nginx, to be read within its `http` block.
///
/// # Errors
/// [`Error::Invalid`] for an address that nginx cannot pass on to, or a name that is none.
pub fn nginx(config: &Config, site: &Site) -> Result<String> {
    let (lines, any_name) = match config.auth {
        Auth::Off => (OPEN, "localhost"),
        Auth::Required => (KEYED, "_"),
    };
    let names = server_names(&site.server_names)?;
    let beyond_stall = config.stall_timeout + BEYOND;
    let silence = config.queue_wait + config.first_row_timeout + SILENCE;
    // Of what is a little larger the server says so itself, whether or not it comes in a form.
    let max_body = config.uploads.size.saturating_add(AROUND_FILE);
    let values = [
        // These hold others.
        ("listen", lines.listen.into()),
        ("admitted", lines.admitted.into()),
        ("forwarded", lines.forwarded.into()),
        ("port", site.port.to_string()),
        ("server_name", if names.is_empty() { any_name.into() } else { names }),
        ("upstream", upstream(&config.listen)?),
        ("server_keep_alive", time(KEEP_ALIVE)),
        ("keep_alive", time(KEEP_ALIVE.saturating_sub(BEFORE))),
        ("stall", time(config.stall_timeout)),
        ("send_timeout", time(beyond_stall)),
        ("queue_wait", time(config.queue_wait)),
        ("first_row", time(config.first_row_timeout)),
        ("read_timeout", time(silence)),
        ("max_body", size(max_body)),
        ("max_upload", config.uploads.size.to_string()),
    ];
    let fill = |text: String, (name, value): &(&str, String)| {
        text.replace(&format!("{{{{{name}}}}}"), value)
    };
    Ok(values.iter().fold(TEMPLATE.to_owned(), fill))
}

/// Where nginx finds the server, out of the address that the server listens on.
fn upstream(listen: &str) -> Result<String> {
    if let Ok(address) = listen.parse::<SocketAddr>() {
        let ip = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            named @ (IpAddr::V4(_) | IpAddr::V6(_)) => named,
        };
        if address.port() != 0 {
            return Ok(SocketAddr::new(ip, address.port()).to_string());
        }
    } else if let Some((host, port)) = listen.rsplit_once(':')
        && is_host(host)
        && port.parse::<u16>().is_ok_and(|port| port != 0)
    {
        return Ok(listen.to_owned());
    }
    Err(refuse(
        "listen",
        listen,
        format!(
            "listen is \"{listen}\", which nginx cannot pass requests on to; give a host and a port \
             that stays the same, such as 127.0.0.1:8080"
        ),
    ))
}

fn server_names(names: &[String]) -> Result<String> {
    if let Some(name) = names.iter().find(|name| !is_server_name(name)) {
        let detail = format!(
            "\"{name}\" is no name that nginx takes: write reports.example.com, *.example.com, \
             reports.* or _ for any; say one after the other, each with --server-name"
        );
        return Err(refuse("server_name", name, detail));
    }
    Ok(names.join(" "))
}

/// Whether nginx takes it for the names of a server: a host's, with a star for its first or its last
/// part, or with a dot before it, which is the name and everything below it. `_` is a name as well, of
/// no host.
fn is_server_name(name: &str) -> bool {
    let stem = name
        .strip_prefix("*.")
        .or_else(|| name.strip_prefix('.'))
        .or_else(|| name.strip_suffix(".*"))
        .unwrap_or(name);
    is_host(stem)
}

/// Whether it is a host's name or address, which means nothing else to nginx.
fn is_host(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    name.split('.').all(|part| !part.is_empty() && part.bytes().all(fits))
}

fn refuse(name: &str, value: &str, detail: String) -> Error {
    Error::Invalid(vec![Problem::parameter(name, "not_for_nginx", value, detail)])
}

/// As nginx reads times: in whole seconds, or in milliseconds.
fn time(time: Duration) -> String {
    if time.subsec_millis() == 0 {
        format!("{}s", time.as_secs())
    } else {
        format!("{}ms", time.as_millis())
    }
}

/// As nginx reads sizes: in the largest unit that says it exactly.
fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes % (1 << 20) == 0 => format!("{}m", bytes >> 20),
        bytes if bytes % (1 << 10) == 0 => format!("{}k", bytes >> 10),
        bytes => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests;
