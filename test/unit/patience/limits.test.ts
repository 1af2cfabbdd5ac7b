import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SETTINGS } from '../../../src/settings/settings-table.ts';
import { ROOT } from '../../support/structure/sources.ts';

const HOUR_S = 3_600;
/** What a first export may take besides. */
const EXPORT_S = 5 * HOUR_S;

const read = (name: string) => readFileSync(join(ROOT, 'deploy', name), 'utf8');

describe('the limits of the examples for schedulers', () => {
  const patienceS = (SETTINGS.patience.fallback ?? 0) / 1_000;

  test('are longer than an export that waits for the service', () => {
    const [, deadline] = /activeDeadlineSeconds: (\d+)/.exec(read('kubernetes-cronjob.yaml')) ?? [];
    expect(Number(deadline)).toBeGreaterThanOrEqual(EXPORT_S + patienceS);
    const [, hours] = /TimeoutStartSec=(\d+)h/.exec(read('daywalk.service')) ?? [];
    expect(Number(hours) * HOUR_S).toBeGreaterThanOrEqual(EXPORT_S + patienceS);
  });

  test('name no other one: a new one must be longer, too', () => {
    expect(read('crontab')).not.toMatch(/\btimeout \d/);
    expect(read('daywalk-serve.service')).not.toMatch(/TimeoutStartSec|RuntimeMaxSec/);
    expect(read('kubernetes-deployment.yaml')).not.toMatch(/activeDeadlineSeconds/);
  });
});
