import { expect, it } from 'vitest';
import { exitCodeOf } from '../../../jobs/verify.ts';
import { FIRST_DAY } from '../../../src/core/day.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { TODAY } from '../../support/rig/rig.ts';
import { describeFindings, verify } from '../../support/verify/run-verify.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

/** An edit of a rollup by another program, and the findings that it must cause. */
const EDITS: Readonly<Record<string, { sql: string; finds: RegExp }>> = {
  'a sum by week': {
    sql: "UPDATE user_weekly SET sessions = sessions + 1 WHERE week_start = '2026-01-26'",
    finds: /^broken users 2026-01-26 user_weekly \(2026-01-26, \S+\): sessions$/,
  },
  'a deleted row of a month': {
    sql: "DELETE FROM user_monthly WHERE month = '2026-01' AND user_id = (SELECT MIN(user_id) FROM users)",
    finds:
      /^broken users 2026-0[12]-\d\d (user_monthly \(2026-01, \S+\): row|org_monthly \(2026-0[12]\): \S+|users \(\S+\): \S+)$/,
  },
  'an email address': {
    sql: "UPDATE user_emails SET user_email = 'other@example.com' WHERE user_id = (SELECT MIN(user_id) FROM users) AND month = '2026-02'",
    finds: /^broken users 2026-02-01 user_emails \(2026-02, \S+, \S+@\S+\): row$/,
  },
  'new users': {
    sql: "UPDATE org_monthly SET new_users = new_users + 1 WHERE month = '2026-02'",
    finds: /^broken users 2026-02-09 org_monthly \(2026-02\): new_users$/,
  },
  'a language of a month': {
    sql: "UPDATE user_monthly_languages SET language = 'COBOL' WHERE month = '2026-01' AND user_id = (SELECT MIN(user_id) FROM user_monthly_languages WHERE month = '2026-01') AND language = (SELECT MIN(language) FROM user_monthly_languages WHERE month = '2026-01' AND user_id = (SELECT MIN(user_id) FROM user_monthly_languages WHERE month = '2026-01'))",
    finds: /^broken users 2026-01-14 user_monthly_languages \(2026-01, \S+, \S+\): row$/,
  },
  'a sum of a team': {
    sql: "UPDATE team_daily SET sessions = sessions + 1 WHERE date = '2026-01-26'",
    finds: /^broken users 2026-01-26 team_daily \(2026-01-26, unassigned\): sessions$/,
  },
  'a row of a team that nobody is in': {
    sql: "INSERT INTO team_model_daily (org_id, date, team, model_id, active_users) SELECT org_id, '2026-02-03', 'ghosts', 'm-1', 1 FROM org_monthly WHERE month = '2026-01'",
    finds: /^broken users 2026-02-03 team_model_daily \(2026-02-03, ghosts, m-1\): row$/,
  },
  'a row of a team on a day that is not stored': {
    sql: "INSERT INTO team_daily (org_id, date, team) SELECT org_id, '2026-12-03', 'ghosts' FROM org_monthly WHERE month = '2026-01'",
    finds: /^broken users 2026-12-03 team_daily \(2026-12-03, ghosts\): row$/,
  },
  'a team of today': {
    sql: "UPDATE users SET team = 'Other'",
    finds: /^broken users 2026-02-09 users \(\S+\): team$/,
  },
  'a user without rows': {
    sql: "INSERT INTO users (org_id, user_id, first_active_on, last_active_on, active_days, active_days_30) SELECT org_id, 'ghost', '2026-01-14', '2026-01-14', 1, 0 FROM org_monthly WHERE month = '2026-01'",
    finds: /^broken users 2026-02-09 users \(ghost\): row$/,
  },
  'a week of no calendar': {
    sql: "UPDATE user_weekly SET week_start = '2026-01-27' WHERE week_start = '2026-01-26'",
    finds: /^broken users 2026-01-(14|26) user_weekly \(2026-01-2[67]\S*( \S+)?\): rows?$/,
  },
  'a day of the calendar': {
    sql: "UPDATE dates SET iso_week = 7 WHERE date = '2026-01-20'",
    finds: /^broken users 2026-01-20 dates \(2026-01-20\): /,
  },
};

onEachDatabase((database) => {
  it('verify finds every edit of a rollup, and a forced refresh repairs it', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await exportedRig({ users: 12, reports: 0 }, { database });
    expect(describeFindings((await verify(rig)).findings)).toEqual([]);
    const warehouse = await open(rig.place);
    const force = { firstDay: FIRST_DAY, lastDay: TODAY };
    for (const [name, { sql, finds }] of Object.entries(EDITS)) {
      await rig.place.execute(sql);
      const found = await verify(rig);
      const lines = describeFindings(found.findings);
      expect(lines, name).not.toEqual([]);
      for (const line of lines) expect(line, name).toMatch(finds);
      expect(exitCodeOf(found), name).toBe(5);
      await refreshRollups(warehouse, {
        orgId: rig.emulator.orgId,
        now: new Date(`${TODAY}T03:00:00Z`),
        force,
      });
    }
    expect(describeFindings((await verify(rig)).findings)).toEqual([]);
  });

  it('verify reports a rollup that lags behind the ledger as an oddity, and an edited fact only as such', {
    tags: 'ci/again',
  }, async () => {
    const rig = await exportedRig({ users: 12, reports: 0 }, { database });
    await rig.place.execute("UPDATE user_daily SET mcp_calls = mcp_calls + 1 WHERE date = '2026-02-03'");
    const edited = describeFindings((await verify(rig)).findings);
    expect(edited).toEqual(['broken users 2026-02-03 SHA-256 of the stored rows']);
    await rig.run({ force: true });
    await rig.place.execute("DELETE FROM rollup_marks WHERE rollup = 'weekly' AND date = '2026-02-03'");
    const stale = await verify(rig);
    expect(describeFindings(stale.findings)).toEqual([
      'oddity users 2026-02-03 days that the rollup weekly lacks; the next run computes it again',
    ]);
    expect(exitCodeOf(stale)).toBe(0);
    await rig.place.execute(
      `INSERT INTO people (org_id, person, valid_from, team) VALUES ('${rig.emulator.orgId}', 'a@example.com', '2026-02-01', 'core')`,
    );
    expect(describeFindings((await verify(rig)).findings)).toContainEqual(
      expect.stringMatching(
        /the rollup users was computed from other people; the next run computes it again$/,
      ),
    );
    await rig.run();
    expect((await verify(rig)).findings).toEqual([]);
  });
});
