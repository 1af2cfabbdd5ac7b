import type { Receiver } from './receiver.ts';

/** An incident as a webhook receives it. */
export interface ListedIncident {
  readonly id: string;
  readonly kind: string;
  readonly organization: string;
  readonly opened_at: string;
  readonly ended_at: string | null;
  readonly [fact: string]: unknown;
}

/** A message as a webhook receives it. */
export interface IncidentMessage {
  readonly text: string;
  readonly exit_code: number;
  readonly opened_count: number;
  readonly over_count: number;
  readonly opened: readonly ListedIncident[];
  readonly over: readonly ListedIncident[];
}

/** The messages that a webhook has received. */
export function messagesOf({ received }: Receiver): IncidentMessage[] {
  return received.map(({ body }) => JSON.parse(body));
}

/** The messages in short: `+ day-missing tokens 2026-03-01`, `- run-failed 4`. */
export function newsOf(from: Receiver): string[][] {
  const named = (sign: string) => (incident: ListedIncident) =>
    [
      sign,
      incident.kind,
      ...FACTS.flatMap((name) => (name in incident ? [String(incident[name])] : [])),
    ].join(' ');
  return messagesOf(from).map(({ opened, over }) =>
    [...opened.map(named('+')), ...over.map(named('-'))].sort(),
  );
}

const FACTS = ['exit_code', 'stream', 'day', 'month', 'team'];
