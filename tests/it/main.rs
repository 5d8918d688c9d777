//! Tests of the whole: nets and questions in, numbers out.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod agreement;
#[cfg(feature = "serve")]
mod browser;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod cli_choices;
mod cli_compare;
#[cfg(feature = "cli")]
mod cli_detection;
mod cli_diagnose;
#[cfg(feature = "cli")]
mod cli_errors;
#[cfg(feature = "cli")]
mod cli_exact;
#[cfg(feature = "cli")]
mod cli_fit;
#[cfg(feature = "cli")]
mod cli_greatspn;
mod cli_help;
mod cli_jani;
#[cfg(feature = "cli")]
mod cli_late;
mod cli_lists;
#[cfg(feature = "cli")]
mod cli_optimize;
#[cfg(feature = "cli")]
mod cli_parts;
#[cfg(feature = "cli")]
mod cli_planned;
#[cfg(feature = "cli")]
mod cli_plans;
#[cfg(feature = "cli")]
mod cli_query;
mod cli_rare;
mod cli_remaining;
#[cfg(feature = "cli")]
mod cli_report;
#[cfg(feature = "cli")]
mod cli_sensitivity;
#[cfg(feature = "cli")]
mod cli_show;
#[cfg(feature = "cli")]
mod cli_solve;
#[cfg(feature = "cli")]
mod cli_solve_folded;
#[cfg(feature = "cli")]
mod cli_sweep;
#[cfg(feature = "cli")]
mod cli_sweep_engine;
mod cli_sweep_stages;
#[cfg(feature = "cli")]
mod cli_syscalls;
#[cfg(feature = "cli")]
mod cli_trace;
#[cfg(feature = "cli")]
mod cli_tutorial;
#[cfg(feature = "cli")]
mod cli_until;
#[cfg(feature = "cli")]
mod cli_untimed;
#[cfg(feature = "cli")]
mod cli_watch;
mod clusters;
mod degenerate;
#[cfg(feature = "cli")]
mod documents;
#[cfg(feature = "cli")]
mod explained;
mod expressions;
mod extremes;
mod file_kinds;
mod fit;
mod fit_history;
mod fit_job;
mod fixed_delays;
mod generated;
#[cfg(all(feature = "cli", feature = "gpu"))]
mod gpu;
mod jani;
mod job_grid;
mod json_keys;
mod laws;
mod maxima;
mod measure;
mod models;
#[cfg(feature = "cli")]
mod nets_right;
mod optimize;
mod optimize_sizes;
mod oracle;
mod other_formats;
#[cfg(feature = "cli")]
mod own_run;
mod phase_logs;
mod pictures;
mod pipe_semantics;
mod plan_keys;
mod random_net;
mod readers;
mod remaining;
mod replay;
mod run_tables;
mod samples;
mod schedules;
#[cfg(feature = "cli")]
mod schemas;
mod sensitivity;
#[cfg(feature = "serve")]
mod serve;
mod serve_job;
#[cfg(feature = "serve")]
mod serve_memory;
#[cfg(feature = "serve")]
mod serve_pages;
mod shared;
mod signals;
#[cfg(feature = "cli")]
mod simulate_net;
mod slots;
mod solve;
#[cfg(feature = "cli")]
mod solve_net;
mod spark_gpus;
mod strace;
mod straggler_nets;
mod structure;
#[cfg(feature = "cli")]
mod studies;
mod task_draws;
mod task_tables;
mod trace;
mod trace_small;
mod trace_sources;
#[cfg(feature = "cli")]
mod transcripts;
mod two_ways;
mod untimed;
#[cfg(feature = "cli")]
mod whatif;
#[cfg(feature = "cli")]
mod wrong_inputs;
