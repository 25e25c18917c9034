/** Sign in, see what waits for a person, approve or reject it. */
import { api, keep, kept } from './api.js';
import { $, element, say, show } from './page.js';
import { showPending } from './pending.js';
import { askForPassword, changePassword, signIn, signOut } from './session.js';
import { act, run } from './tasks.js';
import { review, showWorkflow } from './workflow.js';

/** Shows what the address asks for: all that waits, or `#/workflows/<id>`; any other is told to be none. */
async function open() {
  if (!kept('token')) return show('sign-in');
  if (kept('changePassword')) return askForPassword();
  await fillWorkspaces();
  if (['', '#/'].includes(location.hash)) return showPending();
  const [, id] = /^#\/workflows\/([\w-]+)$/.exec(location.hash) ?? [];
  if (!id) return showUnknown();
  try {
    showWorkflow(await findWorkflow(id));
  } catch (error) {
    // Never another workflow under an address that is not its own.
    await showPending();
    throw error;
  }
}

function showUnknown() {
  $('#address').textContent = location.hash;
  show('unknown');
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

function onSubmit(selector, task) {
  $(selector).addEventListener('submit', (event) => {
    event.preventDefault();
    act(() => task(Object.fromEntries(new FormData(event.target)), event.submitter));
  });
}

onSubmit('#sign-in form', async ({ username, password, otp }) => {
  await signIn(username, password, otp);
  await open();
});
onSubmit('#change-password form', async (fields) => {
  await changePassword(fields);
  await open();
  say('The password is changed.');
});
onSubmit('#review', async (_fields, button) => {
  try {
    await review(button.value);
  } catch (error) {
    // Somebody else may have decided, or it expired: show it as it is now, and why the answer was no.
    if (error.status === 409 || error.status === 410) await open();
    throw error;
  }
});
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
