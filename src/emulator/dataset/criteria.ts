import { split } from './names.ts';

/**
 * Criteria of the repository (denominator 1). The service's set is open-ended and undocumented; apart from a few known
 * ones these ids are invented.
 */
export const REPOSITORY_CRITERIA = split(`
  readme gitignore_comprehensive env_template license_present contributing_guide code_of_conduct codeowners
  issue_templates pull_request_template branch_protection ci_present ci_fast_feedback dependency_lockfile
  dependency_updates secret_scanning vulnerability_scanning release_notes semantic_versioning changelog
  architecture_docs decision_records onboarding_guide dev_container single_command_setup agents_file
  agent_hooks skills_defined monorepo_tooling build_cache pre_commit_hooks signed_commits release_automation
  rollback_documented incident_runbooks error_to_insight_pipeline feature_flags cost_monitoring backup_policy
  data_retention_policy access_review
`);

/** Criteria of each application (denominator = number of applications). */
export const APPLICATION_CRITERIA = split(`
  lint_config type_check formatter unit_tests_exist unit_tests_run integration_tests_exist
  end_to_end_tests_exist coverage_measured coverage_threshold test_isolation flaky_test_tracking
  strict_typing dead_code_detection complexity_limit naming_consistency duplicate_code_detection
  large_file_detection import_boundaries structured_logging log_redaction tracing metrics_exported
  health_checks alerting profiling error_tracking api_schema api_docs_generated config_validated
  input_validated dependency_injection database_migrations local_services seed_data hot_reload
  reproducible_builds container_image deploy_preview progressive_rollout load_tests accessibility_checks
`);

/** Criteria that the quirk `newCriteria` adds. */
export const NEW_CRITERIA = ['agent_sandboxing', 'prompt_regression_tests'] as const;

/** The applications of a repository; each repository has the first few. */
export const APP_PATHS = [
  { path: 'apps/web', description: 'Customer-facing web application' },
  { path: 'apps/api', description: 'HTTP API of the product' },
  { path: 'packages/worker', description: 'Background jobs and queues' },
  { path: 'tools/admin', description: 'Internal administration' },
] as const;
