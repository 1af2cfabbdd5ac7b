/** What every hook event of the client tool may carry (specification, section 6). Other fields pass through. */
interface CommonFields {
  readonly session_id?: string;
  readonly transcript_path?: string;
  readonly cwd?: string;
  readonly permission_mode?: string;
  readonly [field: string]: unknown;
}

/** A tool is about to be used. */
export interface PreToolUseEvent extends CommonFields {
  readonly hook_event_name: 'PreToolUse';
  readonly tool_name?: string;
  readonly tool_input?: unknown;
}

/** A tool was used. */
export interface PostToolUseEvent extends CommonFields {
  readonly hook_event_name: 'PostToolUse';
  readonly tool_name?: string;
  readonly tool_input?: unknown;
  readonly tool_response?: unknown;
}

/** The agent waits for the user's attention. */
export interface NotificationEvent extends CommonFields {
  readonly hook_event_name: 'Notification';
  readonly message?: string;
}

/** The user sent a prompt. */
export interface UserPromptSubmitEvent extends CommonFields {
  readonly hook_event_name: 'UserPromptSubmit';
  readonly prompt?: string;
}

/** The agent, or a subagent, finished a task. */
export interface StopEvent extends CommonFields {
  readonly hook_event_name: 'Stop' | 'SubagentStop';
  readonly stop_hook_active?: boolean;
}

/** The conversation is about to be compacted. */
export interface PreCompactEvent extends CommonFields {
  readonly hook_event_name: 'PreCompact';
  readonly trigger?: string;
  readonly custom_instructions?: string;
}

/** A session began. */
export interface SessionStartEvent extends CommonFields {
  readonly hook_event_name: 'SessionStart';
  readonly source?: string;
}

/** A session ended. The reasons are open: clear, logout, prompt_input_exit, error, other and more. */
export interface SessionEndEvent extends CommonFields {
  readonly hook_event_name: 'SessionEnd';
  readonly reason?: string;
}

/** A hook event that this version knows. */
export type KnownHookEvent =
  | PreToolUseEvent
  | PostToolUseEvent
  | NotificationEvent
  | UserPromptSubmitEvent
  | StopEvent
  | PreCompactEvent
  | SessionStartEvent
  | SessionEndEvent;

/** Name of a hook event that this version knows. */
export type HookEventName = KnownHookEvent['hook_event_name'];

/** A hook event that this version does not know, or whose known fields are of other types. */
export interface OtherHookEvent {
  readonly [field: string]: unknown;
}

const TEXT = 'string';

/** The types of the fields that an event of each name may carry besides the common ones; undefined is any type. */
const FIELDS: Readonly<Record<HookEventName, Readonly<Record<string, 'string' | 'boolean'>>>> = {
  PreToolUse: { tool_name: TEXT },
  PostToolUse: { tool_name: TEXT },
  Notification: { message: TEXT },
  UserPromptSubmit: { prompt: TEXT },
  Stop: { stop_hook_active: 'boolean' },
  SubagentStop: { stop_hook_active: 'boolean' },
  PreCompact: { trigger: TEXT, custom_instructions: TEXT },
  SessionStart: { source: TEXT },
  SessionEnd: { reason: TEXT },
};

const COMMON = { session_id: TEXT, transcript_path: TEXT, cwd: TEXT, permission_mode: TEXT } as const;

/** The hook events that this version knows, in the order of a session. */
export const HOOK_EVENT_NAMES: readonly HookEventName[] = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Notification',
  'PreCompact',
  'Stop',
  'SubagentStop',
  'SessionEnd',
];

/** The reason of a session that ended for none of the others. */
const REASON = 'other';

/**
 * The fields besides session and folder that the client tool sends with every event of a name (specification, section
 * 6), for one that is fired by hand: `transcriptPath` is that of its conversation.
 */
export function firedFieldsOf(
  event: string,
  transcriptPath: string,
): { readonly transcript_path: string; readonly permission_mode: string; readonly reason?: string } {
  const common = { transcript_path: transcriptPath, permission_mode: 'default' };
  return event === 'SessionEnd' ? { ...common, reason: REASON } : common;
}

/** True for the name of an event that this version knows. */
export function isHookEventName(name: unknown): name is HookEventName {
  return typeof name === 'string' && Object.hasOwn(FIELDS, name);
}

/** True for an event that this version knows and whose known fields have their types. Unknown fields do not matter. */
export function isKnownHookEvent(event: OtherHookEvent): event is KnownHookEvent {
  const { hook_event_name: name } = event;
  return isHookEventName(name) && wrongFieldsOf(event).length === 0;
}

/** The known fields of an event that are of another type than they should be; an absent field is none. */
export function wrongFieldsOf(event: OtherHookEvent): string[] {
  const { hook_event_name: name } = event;
  const own = isHookEventName(name) ? FIELDS[name] : {};
  return Object.entries({ ...COMMON, ...own })
    .filter(([field, type]) => event[field] !== undefined && typeof event[field] !== type)
    .map(([field]) => field);
}
