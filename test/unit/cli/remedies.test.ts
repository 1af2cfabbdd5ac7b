import { describe, expect, test } from 'vitest';
import { hintOf, REMEDIES, withHints } from '../../../src/cli/remedies.ts';
import { REASONS, UnitError } from '../../../src/core/errors.ts';
import type { RunReport } from '../../../src/pipeline/events.ts';
import { readSources } from '../../support/structure/sources.ts';

describe('the remedy of a failure', () => {
  test.each(REASONS)('of the reason %s is one sentence, and some error has this reason', (reason) => {
    const facts = {
      proxy: 'p',
      baseUrl: 'b',
      cause: 'c',
      file: 'f',
      firstDay: 'd',
      status: '401',
      refusal: 'r',
    };
    const hint = hintOf({ hint: 'the hint of the error', reason, facts });
    expect(hint).toMatch(/^\S.*[^.\s]$/);
    const mentions = readSources()
      .filter(({ path }) => !path.startsWith('src/cli/'))
      .flatMap(({ text }) => text.match(new RegExp(`'${reason}'`, 'g')) ?? []);
    // One of them declares it.
    expect(mentions.length).toBeGreaterThan(1);
  });

  test('contains the facts of the error', () => {
    expect(hintOf({ hint: 'x', reason: 'proxy-failed', facts: { proxy: 'http://proxy:3128' } })).toBe(
      'HTTPS_PROXY is http://proxy:3128: check that it lets this host through, or name the host in NO_PROXY',
    );
  });

  test.each([
    ['key-rejected', 'check DAYWALK_API_KEY or DAYWALK_API_KEY_FILE: h'],
    ['app-key-lacks-role', 'h; set DAYWALK_APP_API_KEY or DAYWALK_APP_API_KEY_FILE to a credential that may'],
  ] as const)('of the reason %s adds the variable to the hint of the error', (reason, remedy) => {
    expect(hintOf({ hint: 'h', reason })).toBe(remedy);
  });

  test.each([
    ['key-rejected', { keyVariable: 'DAYWALK_API_KEY_FILE' }, 'check DAYWALK_API_KEY_FILE: h'],
    [
      'app-key-rejected',
      { keyVariable: 'DAYWALK_API_KEY', appKeyVariable: 'DAYWALK_APP_API_KEY' },
      'check DAYWALK_APP_API_KEY: h',
    ],
  ] as const)('of the reason %s names the variable that was used', (reason, facts, remedy) => {
    expect(hintOf({ hint: 'h', reason, facts })).toBe(remedy);
  });

  test.each(REASONS)(
    'of the reason %s names no variable of a single key if the organization has a name',
    (reason) => {
      const hint = hintOf({ hint: undefined, reason, facts: { organization: 'research', status: '401' } });
      expect(hint).not.toMatch(/DAYWALK_(APP_)?(API_KEY|URL)|DAYWALK_BASE_URL|--org-id/);
    },
  );

  test.each([['log-cannot-shrink', 'daywalk publish --sqlite']] as const)(
    'of the reason %s is a command with the flag that it needs',
    (reason, command) => {
      expect(hintOf({ hint: undefined, reason })).toContain(command);
    },
  );

  test('is the hint of the error if its reason is a rule, or if it has no reason', () => {
    expect(Object.keys(REMEDIES)).toEqual(expect.arrayContaining([...REASONS]));
    expect(hintOf(new UnitError('x', { reason: 'endless-walk', hint: 'y' }))).toBe('y');
    expect(hintOf({ hint: 'y' })).toBe('y');
    expect(hintOf({ hint: undefined })).toBeUndefined();
  });

  test('replaces the reason code in the problems of a report', () => {
    const problem = { message: 'm', hint: 'h', reason: 'key-rejected', facts: {}, units: 2 } as const;
    const report = { problems: [problem] } as unknown as RunReport;
    expect(withHints(report).problems).toEqual([
      {
        message: 'm',
        hint: expect.stringMatching(/^check DAYWALK_API_KEY or DAYWALK_API_KEY_FILE: /),
        units: 2,
      },
    ]);
  });
});
