/**
 * Comfort for people whose browser runs scripts: the page's name is in view, filters apply at once, SQL can be copied, Escape closes the filters, and
 * tables are open on paper in older browsers too. Every page works without it.
 */
export const script: string = `'use strict';
for (const select of document.querySelectorAll('.panel select')) {
  select.addEventListener('change', () => select.form.requestSubmit());
}
const current = document.querySelector('.top nav [aria-current]');
if (current) current.scrollIntoView({ block: 'nearest', inline: 'nearest' });
const filters = document.querySelector('.filters');
if (filters) {
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !filters.open) return;
    filters.open = false;
    filters.querySelector('summary').focus();
  });
}
for (const pre of document.querySelectorAll('.query pre')) {
  if (!navigator.clipboard) break;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(pre.querySelector('code').textContent);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Select and copy the text';
    }
  });
  button.addEventListener('blur', () => { button.textContent = 'Copy'; });
  pre.before(button);
}
let closed = [];
addEventListener('beforeprint', () => {
  closed = [...document.querySelectorAll('.folded:not([open])')];
  for (const details of closed) details.open = true;
});
addEventListener('afterprint', () => {
  for (const details of closed) details.open = false;
});
`;
