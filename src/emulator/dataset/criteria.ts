/**
 * Criteria of readiness reports: of the repository (denominator 1) and of each application (denominator = number of
 * applications). The service's set is open-ended and not documented; these ids are made up but for a few known ones.
 */
export const REPOSITORY_CRITERIA = [
  'readme', 'gitignore_comprehensive', 'env_template', 'license_present', 'contributing_guide', 'code_of_conduct',
  'codeowners', 'issue_templates', 'pull_request_template', 'branch_protection', 'ci_present', 'ci_fast_feedback',
  'dependency_lockfile', 'dependency_updates', 'secret_scanning', 'vulnerability_scanning', 'release_notes',
  'semantic_versioning', 'changelog', 'architecture_docs', 'decision_records', 'onboarding_guide', 'dev_container',
  'single_command_setup', 'agents_file', 'agent_hooks', 'skills_defined', 'monorepo_tooling', 'build_cache',
  'pre_commit_hooks', 'signed_commits', 'release_automation', 'rollback_documented', 'incident_runbooks',
  'error_to_insight_pipeline', 'feature_flags', 'cost_monitoring', 'backup_policy', 'data_retention_policy',
  'access_review',
] as const;

export const APPLICATION_CRITERIA = [
  'lint_config', 'type_check', 'formatter', 'unit_tests_exist', 'unit_tests_run', 'integration_tests_exist',
  'end_to_end_tests_exist', 'coverage_measured', 'coverage_threshold', 'test_isolation', 'flaky_test_tracking',
  'strict_typing', 'dead_code_detection', 'complexity_limit', 'naming_consistency', 'duplicate_code_detection',
  'large_file_detection', 'import_boundaries', 'structured_logging', 'log_redaction', 'tracing', 'metrics_exported',
  'health_checks', 'alerting', 'profiling', 'error_tracking', 'api_schema', 'api_docs_generated', 'config_validated',
  'input_validated', 'dependency_injection', 'database_migrations', 'local_services', 'seed_data',
  'hot_reload', 'reproducible_builds', 'container_image', 'deploy_preview', 'progressive_rollout', 'load_tests',
  'accessibility_checks',
] as const;

/** Criteria that come into being when the quirk `newCriteria` is on. */
export const NEW_CRITERIA = ['agent_sandboxing', 'prompt_regression_tests'] as const;

export const REPOSITORY_NAMES = [
  'storefront', 'billing', 'identity', 'search', 'mobile-app', 'design-system', 'data-platform', 'notifications',
  'gateway', 'inventory', 'infra', 'docs-site', 'ml-ranking', 'support-tools', 'analytics-jobs', 'partner-api',
  'checkout', 'media-pipeline', 'feature-flags', 'cli',
] as const;

export const APP_PATHS = [
  { path: 'apps/web', description: 'Customer-facing web application' },
  { path: 'apps/api', description: 'HTTP API of the product' },
  { path: 'packages/worker', description: 'Background jobs and queues' },
  { path: 'tools/admin', description: 'Internal administration' },
] as const;
