/** The expected type of a field; `any` allows every type. */
type FieldType = 'string' | 'boolean' | 'any';

/** The fields that every hook event may carry (specification, section 6). All fields are optional; others pass through. */
const COMMON_FIELDS = {
  session_id: 'string',
  transcript_path: 'string',
  cwd: 'string',
  permission_mode: 'string',
} as const satisfies Record<string, FieldType>;

/** The additional fields of each event that this version knows, in the order in which events occur in a session. */
const EVENT_FIELDS = {
  SessionStart: { source: 'string' },
  UserPromptSubmit: { prompt: 'string' },
  PreToolUse: { tool_name: 'string', tool_input: 'any' },
  PostToolUse: { tool_name: 'string', tool_input: 'any', tool_response: 'any' },
  /** The agent waits for the user's attention. */
  Notification: { message: 'string' },
  /** The conversation is about to be compacted. */
  PreCompact: { trigger: 'string', custom_instructions: 'string' },
  /** The agent finished a task. */
  Stop: { stop_hook_active: 'boolean' },
  SubagentStop: { stop_hook_active: 'boolean' },
  /** Known reasons are clear, logout, prompt_input_exit, error and other; new ones may appear. */
  SessionEnd: { reason: 'string' },
} as const satisfies Record<string, Record<string, FieldType>>;

interface FieldTypes {
  string: string;
  boolean: boolean;
  any: unknown;
}

type FieldsOf<Declared extends Record<string, FieldType>> = {
  readonly [Name in keyof Declared]?: FieldTypes[Declared[Name]];
};

/** Name of a hook event that this version knows. */
export type HookEventName = keyof typeof EVENT_FIELDS;

/** A hook event that this version knows. Fields that it does not know pass through. */
export type KnownHookEvent = {
  [Name in HookEventName]: { readonly hook_event_name: Name } & FieldsOf<typeof COMMON_FIELDS> &
    FieldsOf<(typeof EVENT_FIELDS)[Name]> & { readonly [field: string]: unknown };
}[HookEventName];

/** A hook event that this version does not know, or whose known fields have other types. */
export interface OtherHookEvent {
  readonly [field: string]: unknown;
}

/** The hook events that this version knows, in the order in which they occur in a session. */
export const HOOK_EVENT_NAMES: readonly HookEventName[] = Object.keys(EVENT_FIELDS).filter(isHookEventName);

/** Returns true for the name of an event that this version knows. */
export function isHookEventName(name: unknown): name is HookEventName {
  return typeof name === 'string' && Object.hasOwn(EVENT_FIELDS, name);
}

/** Returns true for an event that this version knows and whose known fields have their types. */
export function isKnownHookEvent(event: OtherHookEvent): event is KnownHookEvent {
  return isHookEventName(event['hook_event_name']) && wrongFieldsOf(event).length === 0;
}

/** Returns the known fields of an event that have the wrong type. An absent field is not wrong. */
export function wrongFieldsOf(event: OtherHookEvent): string[] {
  const { hook_event_name: name } = event;
  const fields: Record<string, FieldType> = {
    ...COMMON_FIELDS,
    ...(isHookEventName(name) ? EVENT_FIELDS[name] : {}),
  };
  return Object.entries(fields)
    .filter(([field, type]) => type !== 'any' && event[field] !== undefined && typeof event[field] !== type)
    .map(([field]) => field);
}

/**
 * Returns fields that the client tool sends with this event, for an event that is fired by hand (specification, section
 * 6). The session and the folder are not included. `SessionEnd` gets the reason `other`.
 */
export function firedFieldsOf(
  event: string,
  transcriptPath: string,
): { readonly transcript_path: string; readonly permission_mode: string; readonly reason?: string } {
  const common = { transcript_path: transcriptPath, permission_mode: 'default' };
  return event === 'SessionEnd' ? { ...common, reason: 'other' } : common;
}
