/**
 * Sign in, see what waits for a person, approve or reject it. What is shown comes from users, nodes and models: it is set
 * as text, never as markup.
 */
const $ = (selector) => document.querySelector(selector);
const sections = document.querySelectorAll('main > section');

/** This tab's session: gone when the tab is closed. */
const kept = (key) => sessionStorage.getItem(`mesh.${key}`) ?? '';
const keep = (key, value) => sessionStorage.setItem(`mesh.${key}`, value);

/** An answer that refuses, as the API describes it. */
class Problem extends Error {
  constructor({ title, detail, code, status, errors = [] }) {
    const fields = errors.filter((field) => !detail.includes(field.detail));
    super([`${title}: ${detail}`, ...fields.map((field) => `${field.pointer}: ${field.detail}`)].join(' '));
    this.code = code;
    this.status = status;
  }
}

async function api(method, path, { body, workspace } = {}) {
  const headers = { accept: 'application/json' };
  if (kept('token')) headers.authorization = `Bearer ${kept('token')}`;
  if (workspace) headers['x-workspace-id'] = workspace;
  if (body) headers['content-type'] = 'application/json';
  const request = { method, headers, body: body && JSON.stringify(body), cache: 'no-store' };
  const response = await fetch(`/api/v1${path}`, request).catch(() => undefined);
  if (!response) throw new Problem({ title: 'Not reachable', detail: 'The control plane does not answer: try again.' });
  const answer = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  const { status } = response;
  throw new Problem(answer?.title ? answer : { title: 'Unexpected answer', detail: `HTTP ${status}.`, status });
}

const here = (method, path, body) => api(method, path, { body, workspace: kept('workspace') });

/** An element with text and elements in it; a string becomes text. */
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const time = (instant) => element('time', { dateTime: instant }, new Date(instant).toLocaleString());
const risk = (level) => element('span', { className: `risk ${level}` }, `${level} risk`);

function say(text) {
  $('#message').textContent = text;
  $('#problem').textContent = '';
}

/** Shows one section and moves the focus to its heading, unless it is already there. */
function show(id) {
  $('#session').hidden = !kept('token');
  const section = $(`#${id}`);
  if (!section.hidden) return;
  for (const other of sections) other.hidden = other !== section;
  section.querySelector('h1').focus();
}

/** Does one thing after the other; tells what went wrong. */
let last = Promise.resolve();
let running = 0;
function run(task) {
  running += 1;
  document.body.setAttribute('aria-busy', 'true');
  last = last
    .then(task)
    .catch(fail)
    .then(() => {
      running -= 1;
      if (running === 0) document.body.removeAttribute('aria-busy');
    });
}

/** What a button asks for: a second press while the first is under way does nothing. */
function act(task) {
  if (running === 0) run(task);
}

function fail(error) {
  if (error.status === 401 && kept('token')) forget();
  if (error.code === 'password_change_required') askForPassword();
  $('#message').textContent = '';
  $('#problem').textContent = error.message;
}

function forget() {
  sessionStorage.clear();
  for (const form of document.querySelectorAll('form')) form.reset();
  for (const list of document.querySelectorAll('[data-answer]')) list.replaceChildren();
  show('sign-in');
}

async function signIn(username, password) {
  const { data } = await api('POST', '/users/login', { body: { username, password } });
  keep('token', data.token);
  keep('username', username);
  keep('changePassword', data.passwordChangeRequired ? 'yes' : '');
  for (const form of document.querySelectorAll('form')) form.reset();
  say('');
  await open();
}

function askForPassword() {
  $('#account').value = kept('username');
  show('change-password');
}

/** Ends every session of the account, this one too: hence the new one. */
async function changePassword({ oldPassword, newPassword }) {
  await api('PUT', '/users/me/password', { body: { oldPassword, newPassword } });
  const username = kept('username');
  sessionStorage.clear();
  await signIn(username, newPassword);
  say('The password is changed.');
}

async function signOut() {
  await api('POST', '/users/logout').catch(() => undefined);
  forget();
  say('Signed out.');
}

/** Shows what the address asks for: `#/workflows/<id>`, else all that waits. */
async function open() {
  if (!kept('token')) return show('sign-in');
  if (kept('changePassword')) return askForPassword();
  await fillWorkspaces();
  const [, id] = /^#\/workflows\/([\w-]+)$/.exec(location.hash) ?? [];
  if (!id) return showPending();
  try {
    showWorkflow(await findWorkflow(id));
  } catch (error) {
    // Never another workflow under an address that is not its own.
    await showPending();
    throw error;
  }
}

/** Two workspaces may be displayed alike; the slug tells them apart. */
const nameOf = (displayName, slug) => (displayName === slug ? slug : `${displayName} (${slug})`);

async function fillWorkspaces() {
  const select = $('#workspace');
  const { items } = await api('GET', '/workspaces?limit=200');
  if (!items.some(({ id }) => id === kept('workspace'))) keep('workspace', items[0]?.id ?? '');
  const options = items.map(({ id, displayName, slug }) => element('option', { value: id }, nameOf(displayName, slug)));
  select.replaceChildren(...options);
  select.value = kept('workspace');
}

/** A link names no workspace: the chosen one is asked first, then the others. */
async function findWorkflow(id) {
  const others = [...$('#workspace').options].map(({ value }) => value).filter((value) => value !== kept('workspace'));
  let missing;
  for (const workspace of [kept('workspace'), ...others]) {
    try {
      const workflow = await api('GET', `/workflows/${id}`, { workspace });
      keep('workspace', workspace);
      $('#workspace').value = workspace;
      return workflow;
    } catch (error) {
      if (error.status !== 404 && error.status !== 403) throw error;
      missing ??= error;
    }
  }
  throw missing;
}

async function showPending() {
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

function showWorkflow(workflow) {
  const { id, summary, changes, effect, status } = workflow;
  const review = $('#review');
  if (review.dataset.workflow !== id) review.reset();
  review.dataset.workflow = id;
  review.hidden = status !== 'pending';
  $('#workflow h1').textContent = summary;
  $('#facts').replaceChildren(...factsOf(workflow));
  $('#call').replaceChildren(...callOf(workflow.call));
  $('#effect').replaceChildren(
    ...effectOf('Opens', effect.opened, effect.opened_pairs, effect.opened_outside),
    ...effectOf('Closes', effect.closed, effect.closed_pairs, effect.closed_outside),
    element('p', { className: 'hint' }, `${effect.unchanged_count} pairs stay as they are.${omitted(effect)}`),
  );
  $('#changes').replaceChildren(...changes.map(changeOf));
  show('workflow');
}

const omitted = ({ omitted: count }) => (count > 0 ? ` ${count} rows are left out.` : '');

function factsOf(workflow) {
  const { status, riskLevel, riskReasons, warnings, requestedBy, requestedAt, expiresAt, intent } = workflow;
  const facts = [
    ['Status', workflow.error ? `${status}: ${workflow.error}` : status],
    ['Next', isToRepeat(workflow) && REPEAT],
    ['Risk', [risk(riskLevel), ...riskReasons.map((reason) => element('p', {}, reason))]],
    ['Warnings', warnings.map((warning) => element('p', {}, warning))],
    ['Asked for', intent],
    ['Read by', workflow.plannedBy && `${READERS[workflow.plannedBy]}: ${workflow.reading}`],
    ['Verified', verificationOf(workflow)],
    ['Requested by', [`${requestedBy}, `, time(requestedAt)]],
    ['Approval asked of', workflow.approvalAskedOf],
    ['Expires', status === 'pending' && [time(expiresAt)]],
    ['Reviewed by', workflow.reviewedBy && [`${workflow.reviewedBy}, `, time(workflow.reviewedAt)]],
    ['Note', workflow.note],
  ];
  return facts
    .filter(([, value]) => value && value.length > 0)
    .flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, ...[value].flat())]);
}

const READERS = {
  caller: 'Whoever asked',
  grammar: 'The built-in planner',
  model: 'A language model',
  revert: 'The history',
};

/** Whether the effect was held against what was asked. */
function verificationOf({ verification, objections, overridden }) {
  if (!verification) return undefined;
  const mark = element('span', { className: `verification ${verification}` }, VERIFICATIONS[verification]);
  const whose = overridden
    ? [element('p', {}, 'Put forward all the same, by someone who may (intents:override).')]
    : [];
  return [mark, ...whose, ...objections.map((objection) => element('p', {}, objection))];
}

const VERIFICATIONS = {
  proven: 'Proven: the computed effect is what the reading says. Judge whether that is what was meant.',
  unproven: 'Not proven: nothing was said that the effect could be held against. Judge the effect yourself.',
  unmet: 'It does not do what was asked.',
};

/** An approved call that is not carried out yet. */
const isToRepeat = ({ status, call }) => status === 'approved' && call !== null;
const REPEAT =
  'Nothing has changed yet: who asked has to repeat the call, unless another workspace still has to approve it.';

/** What is carried out on approval, as it was sent. */
function callOf(call) {
  if (!call) return [];
  const input = element('pre', { tabIndex: 0 }, JSON.stringify(call.input, null, 2));
  input.setAttribute('aria-label', `Input of ${call.operation}`);
  return [element('h2', {}, 'Call'), element('p', {}, element('code', {}, call.operation)), input];
}

function effectOf(verb, rows, pairs, outside = 0) {
  const more = outside === 0 ? '' : `, and ${outside} with addresses outside of the network`;
  const heading = element('h3', {}, `${verb} (${pairs} ${pairs === 1 ? 'pair' : 'pairs'}${more})`);
  if (rows.length === 0) return [heading, element('p', { className: 'hint' }, 'Nothing.')];
  const header = ['From', 'To', 'Traffic'].map((name) => element('th', { scope: 'col' }, name));
  const lines = grouped(rows).map((cells) => element('tr', {}, ...cells.map((text) => element('td', {}, text))));
  const table = element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...header)),
    element('tbody', {}, ...lines),
  );
  return [heading, element('div', { className: 'scroll' }, table)];
}

/** Rows of one pair are one line, and sources with the same targets and traffic are named together, as targets are. */
function grouped(rows) {
  const pairs = gathered(rows, ({ src, dst }) => [src, dst], trafficOf);
  const targets = gathered(
    pairs,
    ({ key: [src], values }) => [src, trafficIn(values)],
    ({ key: [, dst] }) => dst,
  );
  const sources = gathered(
    targets,
    ({ key: [, traffic], values }) => [values.join(', '), traffic],
    ({ key }) => key[0],
  );
  return sources.map(({ key: [dst, traffic], values }) => [values.join(', '), dst, traffic]);
}

function gathered(items, keyOf, pick) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    const text = JSON.stringify(key);
    const group = groups.get(text) ?? { key, values: [] };
    groups.set(text, group);
    group.values.push(pick(item));
  }
  return [...groups.values()];
}

const EVERYTHING = ['ICMP', 'SCTP', 'TCP', 'UDP'];

function trafficIn(values) {
  const all = EVERYTHING.every((protocol) => values.includes(protocol));
  return all ? 'anything' : values.join(', ');
}

function trafficOf({ protocol, from, to }) {
  if (from === null) return protocol === 'any' ? 'anything' : protocol;
  return `${protocol} ${from === to || to === null ? from : `${from}-${to}`}`;
}

function changeOf({ action, resource, name, before, after }) {
  const side = (title, yaml) => {
    const text = element('pre', { tabIndex: 0 }, yaml || '(nothing)');
    text.setAttribute('aria-label', `${title}: ${resource} ${name}`);
    return element('figure', {}, element('figcaption', {}, title), text);
  };
  const sides = element('div', { className: 'sides' }, side('Before', before), side('After', after));
  return element('article', {}, element('h3', {}, `${action} ${resource} ${name}`), sides);
}

async function review(verb) {
  const id = $('#review').dataset.workflow;
  const note = $('#note').value.trim();
  try {
    const workflow = await here('POST', `/workflows/${id}/${verb}`, note ? { note } : {});
    $('#review').reset();
    showWorkflow(workflow);
    $('#workflow h1').focus();
    if (workflow.error) throw new Problem({ title: 'The change failed', detail: workflow.error });
    say(`The change is ${workflow.status}.${isToRepeat(workflow) ? ` ${REPEAT}` : ''}`);
  } catch (error) {
    // Somebody else may have decided, or it expired: show it as it is now, and why the answer was no.
    if (error.status === 409 || error.status === 410) await open();
    throw error;
  }
}

function onSubmit(selector, task) {
  $(selector).addEventListener('submit', (event) => {
    event.preventDefault();
    act(() => task(Object.fromEntries(new FormData(event.target)), event.submitter));
  });
}

onSubmit('#sign-in form', ({ username, password }) => signIn(username, password));
onSubmit('#change-password form', changePassword);
onSubmit('#review', (_fields, button) => review(button.value));
$('#sign-out').addEventListener('click', () => act(signOut));
$('#refresh').addEventListener('click', () => act(open));
$('#workspace').addEventListener('change', ({ target }) => {
  keep('workspace', target.value);
  say('');
  if (location.hash === '#/' || !location.hash) run(open);
  else location.hash = '#/';
});
addEventListener('hashchange', () => {
  say('');
  run(open);
});
run(open);
