import { expect, test } from 'vitest';
import { createStyle } from '../../../src/cli/output/terminal.ts';
import { withHints } from '../../../src/cli/remedies.ts';
import { renderRunSummary } from '../../../src/cli/screens/run-summary.ts';
import { parseDay } from '../../../src/core/day.ts';
import { hurriedClock } from '../../support/clock/hurried-clock.ts';
import { freePort } from '../../support/network/free-port.ts';
import { http, rawServer } from '../../support/network/raw-server.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { createRig, type Rig, TODAY } from '../../support/rig/rig.ts';
import { describeVariants, testVariants } from '../../support/suite/variants.ts';

const clock = hurriedClock(`${TODAY}T03:00:00Z`);

/** URLs without an API, and the error of the first run. */
const WRONG: readonly (readonly [
  what: string,
  url: (rig: Rig) => Promise<string>,
  code: number,
  remedy: RegExp,
])[] = [
  [
    'answers 404 on the path of the API',
    async () => (await rawServer((socket) => socket.write(http(404, '{"title":"Not Found"}')))).url,
    2,
    /the API is not there. Write the scheme and the host alone/,
  ],
  [
    'speaks plain HTTP although the URL says https',
    async (rig) => rig.emulator.url.replace('http:', 'https:'),
    2,
    /if it is plain HTTP, write http:\/\//,
  ],
  ['refuses connections', async () => `http://127.0.0.1:${await freePort()}`, 4, /nothing listens there/],
  [
    'is a web page',
    async () => {
      const html = http(200, '<!doctype html>', { 'content-type': 'text/html' });
      return (await rawServer((socket) => socket.write(html))).url;
    },
    4,
    /a web page or another program answers there/,
  ],
];

describeVariants(WRONG)('a service that %s', (_, urlOf, code, remedy) => {
  test(`ends the first run with ${code}, and the hint names the URL to check first`, async () => {
    const rig = await createRig({ users: 4, reports: 0 });
    const baseUrl = await urlOf(rig);
    for (const more of [{}, { orgId: 'org_1' }]) {
      const { report } = await rig.run({ clock, settings: { baseUrl, appUrl: baseUrl, ...more } });
      expect(report).toMatchObject({ exitCode: code, unitsPlanned: 0 });
      const [problem] = withHints(report).problems;
      const { message = '', hint = '' } = problem ?? {};
      expect(message).toContain('reach the service for the first time');
      expect(hint).toMatch(remedy);
      expect(hint.startsWith(`check DAYWALK_BASE_URL, which is ${baseUrl}: `)).toBe(true);
      expect(hint.includes('run again')).toBe(code === 4);
      const screen = renderRunSummary(report, {
        width: 160,
        style: createStyle(false),
        redact: (text) => text,
        isTerminal: true,
        warehouse: { name: 'w.db', flag: '' },
      }).join('\n');
      expect(screen).not.toMatch(/rerun|next run resumes/);
      expect(screen.indexOf('daywalk config')).toBeGreaterThan(0);
      const again = screen.indexOf('daywalk run');
      if (code === 4) expect(again).toBeGreaterThan(screen.indexOf('daywalk config'));
      else expect(again).toBe(-1);
    }
  });

  test('is treated as a temporary failure once the warehouse has data from it', async () => {
    const rig = await createRig({ users: 4, reports: 0 });
    await rig.run({ from: parseDay('2026-02-08') });
    const { report } = await rig.run({ clock, settings: { baseUrl: await urlOf(rig) } });
    expect(report.exitCode).toBe(4);
    expect(report.problems[0]?.message).not.toContain('for the first time');
  });
});

testVariants([
  ['/api/v1/analytics', ''],
  ['/api/v0', ''],
  ['/api/organization/maturity-level-reports', ''],
  ['/proxy/api/v1/', '/proxy'],
])('a base URL that ends in %s is refused with the expected form', async (path, kept) => {
  const rig = await createRig({ users: 4, reports: 0 });
  for (const flag of ['--base-url', '--app-url']) {
    const { code, stderr } = await daywalkInProcess(['run', flag, `https://api.example.com${path}`], {
      env: envOf(rig),
    });
    expect(code).toBe(2);
    expect(stderr).toContain(`${flag}: the value has a path of the API in it: /api/`);
    expect(stderr).toContain(`write it without: https://api.example.com${kept}\n`);
  }
});
