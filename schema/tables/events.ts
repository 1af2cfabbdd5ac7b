import {
  extraColumn,
  instant,
  integer,
  json,
  key,
  label,
  moment,
  orgColumn,
  record,
  table,
  text,
} from '../define.ts';

export const sessions = table({
  name: 'sessions',
  doc: 'Sessions that this program created.',
  role: 'event',
  by: { ...orgColumn, session_id: key('session') },
  values: {
    title: label('title'),
    status: text('idle, pending or running, when the service answered'),
    message_count: integer('messages'),
    created_at: instant('when the session was created'),
    updated_at: instant('when the session was last updated'),
    completed_at: moment('when the session was completed'),
    computer_id: label('connected computer'),
    session_settings: json('settings of the session, as the service answered them'),
    ...extraColumn,
  },
});

export const hookEvents = table({
  name: 'hook_events',
  doc: 'Hook events of the client tool, one row per event.',
  role: 'event',
  by: { ...orgColumn, event_id: key('event, from its content and order') },
  values: {
    received_at: instant('when the event was received'),
    hook_event_name: label('name of the event, for example Stop'),
    session_id: label('session of the client tool'),
    cwd: label('working directory'),
    message: label('message of a Notification'),
    reason: label('reason of a SessionEnd'),
    payload: record('the event as it was received'),
  },
});
