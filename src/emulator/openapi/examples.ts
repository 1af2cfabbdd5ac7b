/**
 * Values that an emulator with the default seed accepts. The ids depend on the seed alone.
 */
export const EXAMPLES = {
  day: '2026-02-03',
  userId: 'user_01JPVWZ21GA9JE2HS6C9XBAHRK',
  reportId: 'a22663b0-56d4-4820-acc2-eb334496f6e0',
  repoId: 'repo_01JVJXE5004T80V4SMYDNWBQ2M',
  session: {
    computerId: 'computer-1',
    cwd: '/srv/app',
    sessionSettings: {
      model: 'current-model',
      reasoningEffort: 'medium',
      interactionMode: 'auto',
      autonomyLevel: 'low',
      tags: [{ name: 'nightly', metadata: { team: 'platform' } }],
    },
  },
} as const;
