/** The metrics of the dictionary that MetricFlow cannot express without giving wrong numbers, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  inactive_users:
    'It compares the people of the last day with the users of all days of the same period. A metric of MetricFlow counts ' +
    'rows, and no row says who had no activity in a period that is only known when the question is asked.',
  published_client_dau:
    'Someone who uses several clients counts once in each, so it has a value only by client. MetricFlow cannot require a ' +
    'dimension, and without one it would combine the clients.',
};
