/** One thing that is wrong with a request, as `metadata.problems` of the 400 names it. */
export interface Violation {
  /** JSON pointer into the body; '' for the body itself. */
  readonly pointer: string;
  readonly rule: string;
}

/** Collects what is wrong with the value that stands at a pointer. */
type Rule = (value: unknown, pointer: string, found: Violation[]) => void;

const EFFORT = /^(?:none|dynamic|off|minimal|low|medium|high|xhigh|max)$/;
const INTERACTION = /^(?:auto|spec|agi|mission)$/;
const LEVEL = /^(?:off|low|medium|high)$/;
const MODE = /^(?:normal|spec|auto-(?:low|medium|high))$/;

const string = text(() => true, 'string');
const identifier = text((value) => value !== '', 'non-empty string');
const boolean: Rule = (value, pointer, found) => {
  if (value !== true && value !== false) found.push({ pointer, rule: 'boolean' });
};
// JSON has no infinity, but 1e400 is read as one.
const number: Rule = (value, pointer, found) => {
  if (!Number.isFinite(value)) found.push({ pointer, rule: 'finite number' });
};

/** Token usage (specification, section 2.2). */
const usage = closed(
  ['inputTokens', 'outputTokens', 'cacheCreationTokens', 'cacheReadTokens', 'thinkingTokens'],
  {
    inputTokens: number,
    outputTokens: number,
    cacheCreationTokens: number,
    cacheReadTokens: number,
    thinkingTokens: number,
    serviceCredits: number,
  },
);

/** Session settings (section 2.1). */
const settings = closed([], {
  model: string,
  reasoningEffort: oneOf(EFFORT),
  interactionMode: oneOf(INTERACTION),
  autonomyLevel: oneOf(LEVEL),
  autonomyMode: oneOf(MODE),
  specModeModel: string,
  specModeReasoningEffort: oneOf(EFFORT),
  runInWorktree: boolean,
  providerLock: identifier,
  providerLockTimestamp: string,
  apiProviderLock: identifier,
  assistantActiveTimeMs: number,
  tokenUsage: usage,
  inclusiveTokenUsage: usage,
  childInclusiveTokenUsageBySessionId: each('object', usage),
  archivedAt: string,
  tags: each('array', closed(['name'], { name: identifier, metadata: each('object', string) })),
  enabledToolIds: each('array', string),
  disabledToolIds: each('array', string),
  compactionModel: text(isCompactionModel, 'current-model, a model identifier, or custom: and a name'),
  compactionThresholdCheckEnabled: boolean,
});

/** The body of a creation (section 4.1). */
const body = closed(['computerId'], {
  computerId: string,
  cwd: text(isDirectory, 'string of 1 to 4096 characters'),
  sessionSettings: settings,
});

/** Everything that is wrong with the body of a creation; nothing when it is valid. */
export function violationsOf(json: unknown): Violation[] {
  const found: Violation[] = [];
  body(json, '', found);
  return found;
}

/** Everything that is wrong with a session settings object. */
export function settingsViolationsOf(json: unknown): Violation[] {
  const found: Violation[] = [];
  settings(json, '', found);
  return found;
}

function text(accepts: (value: string) => boolean, rule: string): Rule {
  return (value, pointer, found) => {
    if (typeof value !== 'string' || !accepts(value)) found.push({ pointer, rule });
  };
}

function oneOf(pattern: RegExp): Rule {
  const names = pattern.source.replace(/^\^\(\?:|\)\$$/g, '');
  return text((value) => !value.includes('\n') && pattern.test(value), names);
}

function isCompactionModel(value: string): boolean {
  if (!value.startsWith('custom:')) return value !== '';
  return value.length > 'custom:'.length && !/[\n\r\u2028\u2029]/.test(value);
}

function isDirectory(value: string): boolean {
  // Characters are code points, as JSON Schema counts them. There are at least half as many as code units.
  if (value === '' || value.length > 2 * 4096) return false;
  return [...value].length <= 4096;
}

/** A list or a map with any keys, whose every element keeps to a rule. */
function each(kind: 'array' | 'object', element: Rule): Rule {
  return (value, pointer, found) => {
    if (kindOf(value) !== kind || typeof value !== 'object' || value === null) {
      found.push({ pointer, rule: kind });
      return;
    }
    for (const [key, member] of Object.entries(value)) element(member, `${pointer}/${escaped(key)}`, found);
  };
}

/** An object without properties besides these, of which some are required. */
function closed(required: readonly string[], properties: Readonly<Record<string, Rule>>): Rule {
  const rules = new Map(Object.entries(properties));
  return (value, pointer, found) => {
    if (kindOf(value) !== 'object' || typeof value !== 'object' || value === null) {
      found.push({ pointer, rule: 'object' });
      return;
    }
    const members = Object.entries(value);
    for (const name of required) {
      if (!members.some(([key]) => key === name))
        found.push({ pointer: `${pointer}/${name}`, rule: 'required' });
    }
    for (const [key, member] of members) {
      const at = `${pointer}/${escaped(key)}`;
      const rule = rules.get(key);
      if (rule === undefined) found.push({ pointer: at, rule: 'no such property' });
      else rule(member, at, found);
    }
  };
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
