// @module-tag campaign/faults

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import { DAY, expectRecovery, smallRig, UNTIL, walk } from '../../support/faults/three-day-walk.ts';
import { selfSigned } from '../../support/network/certificates.ts';
import { json, rawServer } from '../../support/network/raw-server.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { firings } from '../../support/rig/journal.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const RUN = ['run', '--until', UNTIL, '--range-days', '1'];

/** Names that some reader may interpret as more than text. */
const HOSTILE = [
  "'; DROP TABLE tokens_daily; --",
  '\u001b[2J\u001b[31mred',
  'two\nlines\r\nand more',
  '__proto__',
  'constructor',
  '=cmd()|calc',
  '"quoted", and more',
  '\u202Eright to left',
];

onEachDatabase((database) => {
  test('Z1: a redirect to another origin ends the run with exit code 4, and that server receives nothing', async () => {
    const other = await rawServer((socket) => void socket.write(json({ data: [] })));
    const rig = await smallRig(database);
    await walk(rig);
    const digest = await rig.digest();
    const location = `${other.url}{{url}}`;
    rig.emulator.setRules([
      { id: 'fault', match: { stream: 'tools' }, action: { type: 'redirect', location } },
    ]);
    const { report } = await walk(rig, { force: true });
    expect(firings(rig, 'fault')).toBeGreaterThan(0);
    expect(report.exitCode).toBe(4);
    expect(report.problems.map(({ message }) => message).join()).toContain(other.url);
    expect(other.connections).toBe(0);
    expect(await rig.digest()).toBe(digest);
    await expectRecovery(rig);
  });

  test('Z5: hostile names are stored as sent, and have no effect', async () => {
    const value = HOSTILE.map((name, index) => ({ name, count: index + 1 }));
    const rig = await smallRig(database, {
      rules: [
        {
          id: 'fault',
          match: { stream: 'tools', day: DAY },
          action: {
            type: 'patch',
            operations: [
              { op: 'set', path: '/data/0/skills_by_name', value },
              {
                op: 'set',
                path: '/data/0/hooks_by_event',
                value: HOSTILE.map((event) => ({ event, count: 1 })),
              },
            ],
          },
        },
        {
          id: 'users',
          match: { stream: 'users', day: DAY },
          action: { type: 'patch', operations: [{ op: 'set', path: '/data/0/languages', value: HOSTILE }] },
        },
      ],
    });
    const { report } = await walk(rig);
    expect([firings(rig, 'fault'), firings(rig, 'users')]).toEqual([1, 1]);
    expect(report).toMatchObject({ exitCode: 0, quarantined: 0 });
    const sorted = HOSTILE.toSorted();
    const names = async (sql: string) => (await rig.column(sql, DAY)).toSorted();
    expect(await names('SELECT name FROM tools_daily_by_skill WHERE date = ?')).toEqual(sorted);
    expect(await names('SELECT event FROM tools_daily_by_hook WHERE date = ?')).toEqual(sorted);
    const languages = await names('SELECT language FROM user_daily_languages WHERE date = ?');
    expect(languages).toEqual(expect.arrayContaining(sorted));
    expect(({} as Record<string, unknown>)['count']).toBeUndefined();
  });
});

describe('Z3: an untrusted certificate', () => {
  test('Z3: ends the run with exit code 4 before the key is sent', async ({ skip }) => {
    const tls = selfSigned('localhost');
    if (tls === null) return skip('this machine has no openssl');
    const server = await rawServer((socket) => void socket.write(json({})), { tls });
    const rig = await smallRig(sqlite);
    const { report } = await walk(rig, { settings: { baseUrl: server.url, appUrl: server.url } });
    expect(server.requests).toHaveLength(0);
    expect(report).toMatchObject({ exitCode: 4, requests: 1, retries: 0, unitsDone: 0 });
    expect(report.problems[0]).toMatchObject({
      message: expect.stringMatching(/certificate .*SELF_SIGNED/),
      reason: 'certificate-untrusted',
    });
  });
});

describe('foreign text', () => {
  test('Z4, Z5: a key echoed in bodies, headers and broken answers appears nowhere, nor does any escape sequence', async () => {
    const key = 'canary-key-5f1d2c9e';
    const echo = 'bad key {{apiKey}} \u001b[31m\nnext line';
    const rules = parseRules([
      { id: 'refusal', match: { stream: 'tools' }, action: { type: 'status', status: 400, detail: echo } },
      { id: 'failure', match: { stream: 'activity' }, action: { type: 'status', status: 500, title: echo } },
      {
        id: 'line',
        match: { stream: 'tokens', day: DAY },
        action: { type: 'malformed-status-line', line: 'HTP {{apiKey}}' },
      },
      {
        id: 'page',
        match: { stream: 'productivity' },
        action: { type: 'body', text: '<p>{{apiKey}}</p>', contentType: 'text/{{apiKey}}' },
      },
      {
        id: 'record',
        match: { stream: 'users', day: DAY },
        action: {
          type: 'patch',
          operations: [
            { op: 'set', path: '/data/0/user_id', value: 7 },
            { op: 'set', path: '/data/0/note', value: key },
            { op: 'set', path: '/data/1/note', value: key },
          ],
        },
      },
    ]);
    const rig = await smallRig(sqlite, { apiKey: key, rules });
    for (const format of ['json', 'pretty']) {
      const env = envOf(rig, { DAYWALK_LOG: format, DAYWALK_DEBUG: '1' });
      const ran = await daywalkInProcess([...RUN, '--attempts', '1'], { env });
      expect(ran.code).toBe(5);
      const status = await daywalkInProcess(['status'], { env });
      for (const { stdout, stderr } of [ran, status]) {
        expect(stdout + stderr).not.toContain(key);
        expect(stdout + stderr).not.toContain('\u001b');
      }
      expect(ran.stdout + ran.stderr).toContain('bad key');
    }
    for (const { id = '' } of rules) expect(firings(rig, id), id).toBeGreaterThan(0);
    expect(await rig.value('SELECT COUNT(*) FROM quarantine')).toBe(1);
    expect(readFileSync(rig.path).includes(key)).toBe(false);
  });
});
