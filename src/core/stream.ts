/** The streams that have one unit per UTC day, in the order in which a day is pulled. */
export const DAILY_STREAMS = ['tokens', 'tools', 'activity', 'productivity', 'users'] as const;

/** Every stream: one per analytics endpoint, and the readiness reports. */
export const STREAMS = [...DAILY_STREAMS, 'readiness'] as const;

/** A stream with one unit per day. */
export type DailyStream = (typeof DAILY_STREAMS)[number];

/** Any stream. */
export type Stream = (typeof STREAMS)[number];

/** True for the name of a stream. */
export function isStream(name: unknown): name is Stream {
  return (STREAMS as readonly unknown[]).includes(name);
}

/** True for the name of a stream with one unit per day. */
export function isDailyStream(name: string): name is DailyStream {
  return (DAILY_STREAMS as readonly string[]).includes(name);
}
