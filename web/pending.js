import { here, kept } from './api.js';
import { $, element, risk, say, show, time } from './page.js';
import { act } from './tasks.js';

/** All that waits for a person in the chosen workspace. */
export async function showPending() {
  if (!kept('workspace')) {
    const none = 'You are in no workspace yet: an administrator adds you to one; mesh mcp config makes the first.';
    $('#workflows').replaceChildren(element('li', { className: 'hint' }, none));
    $('#peers').replaceChildren();
    return show('pending');
  }
  const [workflows, peers] = await Promise.all([
    here('GET', '/workflows?status=pending&limit=200'),
    here('GET', '/peers?phase=pending&limit=200'),
  ]);
  fillCards($('#workflows'), workflows, workflowCard);
  fillCards($('#peers'), peers, peerCard);
  show('pending');
}

function fillCards(list, { items, next_cursor: more }, card) {
  const hint = items.length === 0 ? 'Nothing waits.' : more && 'There are more: these are the first 200.';
  list.replaceChildren(...items.map(card), ...(hint ? [element('li', { className: 'hint' }, hint)] : []));
}

function workflowCard({ id, summary, riskLevel, requestedBy, requestedAt }) {
  const link = element('a', { href: `#/workflows/${id}` }, summary);
  return element('li', {}, link, element('p', {}, risk(riskLevel), ` ${requestedBy}, `, time(requestedAt)));
}

function peerCard({ id, name, platform, publicKey, agent, createdAt }) {
  const decide = (label, className, verb, done) => {
    const button = element('button', { type: 'button', className }, label);
    button.setAttribute('aria-label', `${label} ${name}`);
    button.addEventListener('click', () =>
      act(async () => {
        const answer = await here('POST', `/peers/${id}/${verb}`, {});
        await showPending();
        say(answer?.status === 'pending_approval' ? answer.message : `${name} is ${done}.`);
        $('#pending h1').focus();
      }),
    );
    return button;
  };
  const buttons = element(
    'div',
    { className: 'buttons' },
    decide('Approve', 'primary', 'approve', 'approved'),
    decide('Reject', 'danger', 'revoke', 'rejected'),
  );
  const of = agent ? `, agent ${agent}` : '';
  const facts = element('p', {}, `${platform}${of}, `, time(createdAt));
  return element('li', {}, element('strong', {}, name), facts, element('code', {}, publicKey), buttons);
}
