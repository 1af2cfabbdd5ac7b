/** Who asks: `managers` see everything, a `team` sees published weeks and nothing else. */
export const ASSISTANT_AUDIENCES = ['managers', 'team'] as const;
export type AssistantAudience = (typeof ASSISTANT_AUDIENCES)[number];
