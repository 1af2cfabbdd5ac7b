/** The groups of operations. Generated clients use them as modules. */
export const TAGS = {
  analytics: {
    name: 'Analytics',
    description: 'Usage of the organization by UTC day, one day late. Requires the Manager or Owner role.',
  },
  readiness: {
    name: 'Readiness',
    description: 'Reports on how ready a repository is for agents.',
  },
  sessions: { name: 'Sessions', description: 'Sessions on connected computers, for selected organizations.' },
} as const;
