// @module-tag campaign/chaos

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sessionRequestViolations } from '../../../src/api/session-request.ts';
import { UsageError } from '../../../src/core/errors.ts';
import { findViolations } from '../../../src/emulator/endpoints/sessions.ts';
import { BadRequestError } from '../../../src/http/errors.ts';
import { clientOf, emulated, post } from '../../support/sessions/emulated-service.ts';
import { someSettings } from '../../support/sessions/random-settings.ts';

const isLongCampaign = process.env['DAYWALK_CHAOS'] === '1';
const RUNS = isLongCampaign ? 10_000 : 2_000;
const RUNS_OVER_TCP = isLongCampaign ? 2_000 : 100;
/** Of either kind, so that neither verdict is agreed on by habit. */
const KIND_SHARE_MIN = 0.3;

describe("the client's and the emulator's validation, which share no code,", () => {
  test(`agree on ${RUNS} settings objects, and on the number of errors in each`, { tags: 'ci/again' }, () => {
    const verdicts = { valid: 0, invalid: 0 };
    fc.assert(
      fc.property(someSettings, (sessionSettings) => {
        const request = { computerId: 'computer-1', sessionSettings };
        const own = new Set(sessionRequestViolations(request).map(({ path }) => path));
        const theirs = new Set(findViolations(onTheWire(request)).map(({ pointer }) => pointer));
        expect(own.size, [...own, ...theirs].join('\n')).toBe(theirs.size);
        verdicts[own.size === 0 ? 'valid' : 'invalid'] += 1;
      }),
      { numRuns: RUNS },
    );
    expect(verdicts.valid + verdicts.invalid).toBe(RUNS);
    expect(Math.min(verdicts.valid, verdicts.invalid)).toBeGreaterThan(RUNS * KIND_SHARE_MIN);
  });

  test('agree over TCP: the client refuses exactly what the service refuses', async () => {
    const emulator = await emulated();
    const client = clientOf(emulator);
    await fc.assert(
      fc.asyncProperty(someSettings, async (sessionSettings) => {
        const request = { computerId: 'computer-1', sessionSettings: Object(sessionSettings) };
        const { status } = await post(emulator, request);
        const verdict = await client.createSession(request).then(
          () => 201,
          (error: unknown) => (error instanceof UsageError ? 400 : error),
        );
        expect(verdict).not.toBeInstanceOf(BadRequestError);
        expect(verdict).toBe(status);
      }),
      { numRuns: RUNS_OVER_TCP },
    );
  });
});

/** Returns a value as it arrives after JSON. */
function onTheWire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
