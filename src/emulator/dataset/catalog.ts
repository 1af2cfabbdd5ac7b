/** A model that the emulated organization uses, and when: days are counted from the first day with data. */
export interface Model {
  readonly id: string;
  readonly tier: 'standard' | 'thinking';
  /** Credits per weighted token. */
  readonly rate: number;
  /** First day on which it is used, and the last. */
  readonly since: number;
  readonly until: number;
  /** How often it is chosen, relative to the others. */
  readonly weight: number;
}

const ALWAYS = { since: 0, until: Number.MAX_SAFE_INTEGER };

/** At most 31, because a set of models is kept as the bits of one integer. */
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
export const TOOLS = [
  'Read',
  'Execute',
  'Edit',
  'Grep',
  'Create',
  'TodoWrite',
  'LS',
  'Glob',
  'ApplyPatch',
  'WebSearch',
  'FetchUrl',
  'Task',
  'ExitSpecMode',
  'AskUser',
  'Skill',
  'GenerateImage',
] as const;

/** MCP servers in the two spellings under which users configured them, with their tools. */
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

/** The MCP tools as they stand among the tool names, server by server. */
export const MCP_TOOLS: readonly string[] = MCP_SERVERS.flatMap((server) =>
  server.tools.map((tool) => `mcp__${server.spellings[0]}__${tool}`),
);

/** What a faulty parse leaves in a tool name; `@` stands for the name of the tool. */
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

/** The names of skills. */
export const SKILLS = [
  'code-review',
  'release-notes',
  'write-tests',
  'migrate-config',
  'incident-report',
  'api-docs',
  'refactor',
  'dependency-upgrade',
] as const;

/** The names of slash commands. */
export const SLASH_COMMANDS = [
  'review',
  'compact',
  'model',
  'clear',
  'init',
  'mcp',
  'cost',
  'resume',
  'agents',
  'standup',
] as const;

/** Hooks by event, matcher and command; matcher and command may be empty. */
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

/** Programming languages with the extensions their files have. At most 31, as for models. */
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

/** Every extension, each once, in the order of the languages. */
export const EXTENSIONS: readonly string[] = [
  ...new Set(LANGUAGES.flatMap((language) => language.extensions)),
];

/** The place in {@link EXTENSIONS} of each language's first and second extension. */
export const EXTENSIONS_OF_LANGUAGE: readonly (readonly [number, number])[] = LANGUAGES.map(
  ({ extensions: [first, second] }) => [EXTENSIONS.indexOf(first), EXTENSIONS.indexOf(second)],
);

/** How much a user lets the agent do alone (specification, section 2.4). */
export const DELEGATION = ['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'] as const;

/** What emails are made of. */
export const FIRST_NAMES = [
  'ada',
  'alan',
  'amir',
  'ana',
  'bella',
  'chen',
  'dana',
  'dmitri',
  'elif',
  'emre',
  'fatima',
  'grace',
  'hana',
  'ines',
  'ivan',
  'jonas',
  'kofi',
  'lena',
  'li',
  'lucia',
  'mara',
  'mateo',
  'mei',
  'nadia',
  'noor',
  'omar',
  'paula',
  'priya',
  'rafael',
  'ren',
  'sara',
  'sven',
  'tariq',
  'uma',
  'vera',
  'wei',
  'yara',
  'yuki',
  'zane',
  'zoe',
] as const;

/** What emails are made of, and what changes when one changes. */
export const LAST_NAMES = [
  'abe',
  'adler',
  'almeida',
  'bauer',
  'blanc',
  'castro',
  'cohen',
  'diaz',
  'eriksen',
  'farah',
  'fischer',
  'garcia',
  'gupta',
  'haddad',
  'hansen',
  'ito',
  'jansen',
  'kaya',
  'khan',
  'kim',
  'kowalski',
  'kumar',
  'larsen',
  'lopez',
  'mensah',
  'moreau',
  'nakamura',
  'novak',
  'okafor',
  'oliveira',
  'park',
  'petrov',
  'quinn',
  'rossi',
  'sato',
  'silva',
  'tanaka',
  'usman',
  'weber',
  'zhang',
] as const;
