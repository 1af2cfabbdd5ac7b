/** Splits a text into its words. */
function split(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

export const FIRST_NAMES = split(`
  ada alan amir ana bella chen dana dmitri elif emre fatima grace hana ines ivan jonas kofi lena li lucia
  mara mateo mei nadia noor omar paula priya rafael ren sara sven tariq uma vera wei yara yuki zane zoe
`);

/** A changed email has another last name. */
export const LAST_NAMES = split(`
  abe adler almeida bauer blanc castro cohen diaz eriksen farah fischer garcia gupta haddad hansen ito jansen
  kaya khan kim kowalski kumar larsen lopez mensah moreau nakamura novak okafor oliveira park petrov quinn
  rossi sato silva tanaka usman weber zhang
`);

/** The names of repositories; further repositories get a number. */
export const REPOSITORY_NAMES = split(`
  storefront billing identity search mobile-app design-system data-platform notifications gateway inventory
  infra docs-site ml-ranking support-tools analytics-jobs partner-api checkout media-pipeline feature-flags
  cli
`);

/** A model of the emulated organization. Days count from the first day with data. */
interface Model {
  readonly id: string;
  readonly tier: 'standard' | 'thinking';
  /** Credits per weighted token. */
  readonly rate: number;
  /** First and last day of use. */
  readonly since: number;
  readonly until: number;
  /** How often it is chosen in relation to the others. */
  readonly weight: number;
}

const ALWAYS = { since: 0, until: Number.MAX_SAFE_INTEGER };

/** At most 31, because one integer holds a set of models as bits. */
export const MODELS: readonly Model[] = [
  { id: 'atlas-4', tier: 'standard', rate: 1, ...ALWAYS, weight: 30 },
  { id: 'atlas-4-thinking', tier: 'thinking', rate: 1.4, ...ALWAYS, weight: 18 },
  { id: 'atlas-4-mini', tier: 'standard', rate: 0.25, ...ALWAYS, weight: 16 },
  { id: 'borealis-2', tier: 'standard', rate: 0.8, since: 0, until: 120, weight: 14 },
  { id: 'borealis-3', tier: 'standard', rate: 0.9, since: 75, until: ALWAYS.until, weight: 22 },
  { id: 'borealis-3-thinking', tier: 'thinking', rate: 1.2, since: 90, until: ALWAYS.until, weight: 10 },
  { id: 'cirrus-code', tier: 'standard', rate: 0.5, ...ALWAYS, weight: 12 },
  { id: 'cirrus-code-2', tier: 'thinking', rate: 0.6, since: 190, until: ALWAYS.until, weight: 15 },
  { id: 'custom:in-house-7b', tier: 'standard', rate: 0.1, since: 30, until: ALWAYS.until, weight: 3 },
];

/** The client types, in the order of the bits of a user's day (specification, section 2.4). */
export const CLIENT_TYPES = ['terminal-ui', 'web', 'non-interactive-cli'] as const;

/** Built-in tools, the most used first. */
export const TOOLS = split(`
  Read Execute Edit Grep Create TodoWrite LS Glob ApplyPatch WebSearch FetchUrl Task ExitSpecMode AskUser
  Skill GenerateImage
`);

/** MCP servers with the two spellings that users configured, and their tools. */
export const MCP_SERVERS = [
  { spellings: ['github', 'GitHub'], tools: ['search_code', 'create_pull_request', 'get_issue'] },
  { spellings: ['linear', 'Linear'], tools: ['list_issues', 'update_issue', 'get_document'] },
  { spellings: ['figma', 'Figma'], tools: ['get_file', 'get_comments', 'export_node'] },
  { spellings: ['postgres', 'Postgres'], tools: ['query', 'list_tables', 'explain'] },
  { spellings: ['sentry', 'Sentry'], tools: ['list_errors', 'get_event', 'resolve'] },
  { spellings: ['playwright', 'playwright'], tools: ['navigate', 'click', 'screenshot'] },
] as const;

/** Tools per MCP server. */
export const TOOLS_PER_SERVER = 3;

/** The tool names of the MCP tools, server by server. */
export const MCP_TOOLS: readonly string[] = MCP_SERVERS.flatMap((server) =>
  server.tools.map((tool) => `mcp__${server.spellings[0]}__${tool}`),
);

/** Tool names that a faulty parser produced; `@` stands for the name of the tool. */
export const TOOL_ARTIFACTS = [
  '@{"file_path":',
  '<invoke name="@">',
  '@\n',
  '@</parameter>\n</invoke>',
  '"@"',
  '@","parameters":{"command":"ls -la"}}',
  '\t@\r\n<parameter name="pattern">',
  "@'}]",
] as const;

export const SKILLS = split(`
  code-review release-notes write-tests migrate-config incident-report api-docs refactor dependency-upgrade
`);

export const SLASH_COMMANDS = split(`
  review compact model clear init mcp cost resume agents standup
`);

/** Hooks. Matcher and command may be empty. */
export const HOOKS = [
  { event: 'PostToolUse', matcher: 'Edit|Create', command: 'npm run lint --silent' },
  { event: 'PostToolUse', matcher: 'Edit', command: 'prettier --write "$FILE"' },
  { event: 'PostToolUse', matcher: 'Execute', command: './scripts/audit.sh' },
  { event: 'PreToolUse', matcher: 'Execute', command: 'python3 ~/.hooks/guard.py' },
  { event: 'Stop', matcher: '', command: 'notify-send "done"' },
  { event: 'Notification', matcher: '', command: 'terminal-notifier -title agent' },
  { event: 'SessionEnd', matcher: '', command: './scripts/session-summary.sh' },
  { event: 'SubagentStop', matcher: '', command: '' },
] as const;

/** Programming languages with two file extensions each. At most 31, like the models. */
export const LANGUAGES = [
  { name: 'TypeScript', extensions: ['.ts', '.tsx'] },
  { name: 'Python', extensions: ['.py', '.pyi'] },
  { name: 'JavaScript', extensions: ['.js', '.mjs'] },
  { name: 'Go', extensions: ['.go', '.go'] },
  { name: 'Markdown', extensions: ['.md', '.mdx'] },
  { name: 'Java', extensions: ['.java', '.java'] },
  { name: 'Rust', extensions: ['.rs', '.rs'] },
  { name: 'SQL', extensions: ['.sql', '.sql'] },
  { name: 'C++', extensions: ['.cpp', '.h'] },
  { name: 'YAML', extensions: ['.yaml', '.yml'] },
  { name: 'Shell', extensions: ['.sh', '.bash'] },
  { name: 'Kotlin', extensions: ['.kt', '.kts'] },
  { name: 'CSS', extensions: ['.css', '.scss'] },
  { name: 'Terraform', extensions: ['.tf', '.tfvars'] },
] as const;

/** Every extension once, in the order of the languages. */
export const EXTENSIONS: readonly string[] = [
  ...new Set(LANGUAGES.flatMap((language) => language.extensions)),
];

/** The indexes in {@link EXTENSIONS} of each language's two extensions. */
export const EXTENSIONS_OF_LANGUAGE: readonly (readonly [number, number])[] = LANGUAGES.map(
  ({ extensions: [first, second] }) => [EXTENSIONS.indexOf(first), EXTENSIONS.indexOf(second)],
);

/** How much the agent may do alone (specification, section 2.4). */
export const DELEGATION = ['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'] as const;

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
