/** The groups of operations, which generated clients make modules of. */
export const TAGS = {
  analytics: {
    name: 'Analytics',
    description: 'Usage of the organization by UTC day, one day late. Needs the Manager or Owner role.',
  },
  readiness: {
    name: 'Readiness',
    description: 'Reports that evaluate how ready a repository is for agents.',
  },
  sessions: { name: 'Sessions', description: 'Sessions on connected computers, for selected organizations.' },
} as const;
