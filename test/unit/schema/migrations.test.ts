import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

describe('the migrations', () => {
  it('match the declarations', () => {
    const check = spawnSync(
      process.execPath,
      ['--import', 'tsx', 'scripts/generate-migrations.ts', '--check'],
      {
        encoding: 'utf8',
      },
    );
    expect(check.stdout + check.stderr).toBe(
      'the migrations of sqlite are up to date\nthe migrations of postgresql are up to date\n',
    );
    expect(check.status).toBe(0);
  });
});
