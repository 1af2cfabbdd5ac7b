import { factTable, key, metric } from '../define.ts';

export const productivityDaily = factTable({
  name: 'productivity_daily',
  doc: 'Files and git work of the organization: one row per day.',
  stream: 'productivity',
  values: {
    files_created: metric('files created'),
    files_edited: metric('files edited'),
    git_commits: metric('git commits'),
    git_prs_created: metric('pull requests created'),
  },
});

const counted = { count: metric('number of files') };

export const productivityDailyByExtension = factTable({
  name: 'productivity_daily_by_extension',
  doc: 'Files by extension.',
  stream: 'productivity',
  by: { extension: key('file name extension, as the service sends it') },
  values: counted,
});

export const productivityDailyByLanguage = factTable({
  name: 'productivity_daily_by_language',
  doc: 'Files by language.',
  stream: 'productivity',
  by: { language: key('programming language') },
  values: counted,
});
