/** The ways to notify a person of a hook event. */
export const NOTIFY_CHANNELS = ['desktop', 'bell', 'webhook'] as const;

/** One of {@link NOTIFY_CHANNELS}. */
export type NotifyChannel = (typeof NOTIFY_CHANNELS)[number];

/** The hook events that a person can be notified of (specification, section 6). */
export const NOTIFY_EVENTS = ['Notification', 'Stop', 'SubagentStop', 'SessionEnd'] as const;

/** One of {@link NOTIFY_EVENTS}. */
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];
