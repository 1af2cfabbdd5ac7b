/**
 * What a test is for, beside the project that its folder gives it. A file is tagged by `// @module-tag`. `npm test` leaves
 * out `ci/…`, and what runs on PostgreSQL unless the file is `database-specific`; `npm run test:rest` runs the former, `npm run test:postgres` the latter.
 */
export const TAGS = [
  { name: 'postgresql', description: 'runs on PostgreSQL' },
  {
    name: 'database-specific',
    description: 'the promise depends on the database, so npm test shows it on PostgreSQL too',
  },
  { name: 'ci/again', description: 'npm test shows the same promise by another test' },
  { name: 'ci/variant', description: 'npm test shows the same promise at another size, or in another case' },
  {
    name: 'ci/rare',
    description: 'a rare case of a promise whose usual case npm test shows, and it takes long',
  },
  {
    name: 'ci/upkeep',
    description: 'benchmarks and pages of the documentation are in order; it is no behaviour of the program',
  },
  { name: 'campaign/answers', description: 'mutated responses' },
  { name: 'campaign/build', description: 'builds while the program is in use, and a new column by hand' },
  { name: 'campaign/chaos', description: 'kills at writes and at random moments' },
  { name: 'campaign/faults', description: 'the faults that a run survives' },
  { name: 'campaign/metrics', description: 'metrics of random organizations' },
  { name: 'campaign/moves', description: 'kills during copies and publishes' },
  { name: 'campaign/pace', description: 'the pace of requests, in real time, and of simulated services' },
  { name: 'campaign/plans', description: 'the plan of every statement, on four times the rows' },
  { name: 'campaign/rounds', description: 'the service, its rounds and its schedules' },
  { name: 'campaign/verify', description: 'verification and upgrades of the warehouse' },
] as const;

declare module 'vitest' {
  interface TestTags {
    tags: (typeof TAGS)[number]['name'];
  }
}
