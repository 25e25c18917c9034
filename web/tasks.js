import { kept } from './api.js';
import { sayProblem } from './page.js';
import { askForPassword, forget } from './session.js';

/** Does one thing after the other; tells what went wrong. */
let last = Promise.resolve();
let running = 0;
export function run(task) {
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
export function act(task) {
  if (running === 0) run(task);
}

function fail(error) {
  if (error.status === 401 && kept('token')) forget();
  if (error.code === 'password_change_required') askForPassword();
  sayProblem(error.message);
}
