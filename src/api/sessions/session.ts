import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { Flag, Identity, Instant, Label, listOf, mapOf } from '../shapes/fields.ts';
import { type Violation, violationsOf } from './violations.ts';

/** States of a session (specification, section 3). */
export const SESSION_STATES = ['idle', 'pending', 'running'] as const;

// A response describes a session that exists already. New values, further fields and nulls in its settings are accepted,
// because they must not make a created session look like a failure.

// The digits of numbers beyond 2^53 are taken from the text of the response.
const Amount = Type.Optional(Type.Union([Type.Number(), Type.Null()]));

const AnsweredUsage = Type.Object({
  inputTokens: Amount,
  outputTokens: Amount,
  cacheCreationTokens: Amount,
  cacheReadTokens: Amount,
  thinkingTokens: Amount,
  serviceCredits: Amount,
});

const AnsweredUsageOrNull = Type.Optional(Type.Union([AnsweredUsage, Type.Null()]));

/** The settings of a session in a response (section 2.1). */
export const AnsweredSettings = Type.Object({
  model: Label,
  reasoningEffort: Label,
  interactionMode: Label,
  autonomyLevel: Label,
  autonomyMode: Label,
  specModeModel: Label,
  specModeReasoningEffort: Label,
  runInWorktree: Flag,
  providerLock: Label,
  providerLockTimestamp: Label,
  apiProviderLock: Label,
  assistantActiveTimeMs: Amount,
  tokenUsage: AnsweredUsageOrNull,
  inclusiveTokenUsage: AnsweredUsageOrNull,
  childInclusiveTokenUsageBySessionId: mapOf(AnsweredUsage),
  archivedAt: Label,
  tags: listOf(Type.Object({ name: Type.String(), metadata: mapOf(Type.String()) })),
  enabledToolIds: listOf(Type.String()),
  disabledToolIds: listOf(Type.String()),
  compactionModel: Label,
  compactionThresholdCheckEnabled: Flag,
});
export type AnsweredSettings = Static<typeof AnsweredSettings>;

/** A session in the response to its creation (section 2.3). Instants are Unix milliseconds. Unknown fields are kept. */
export const Session = Type.Object({
  sessionId: Identity,
  title: Label,
  status: Type.Enum(SESSION_STATES),
  messageCount: Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  createdAt: Instant,
  updatedAt: Instant,
  completedAt: Type.Optional(Type.Union([Instant, Type.Null()])),
  computerId: Label,
  sessionSettings: Type.Optional(Type.Union([AnsweredSettings, Type.Null()])),
});
export type Session = Static<typeof Session>;

const check = Compile(Session);

/** The session in a response, or what is wrong with it. */
export function readSession(body: unknown): { session: Session } | { violations: Violation[] } {
  if (check.Check(body)) return { session: body };
  return { violations: violationsOf(check, body, 'answer') };
}
