import { useSignal } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import { me } from '../../api/session.ts';
import { useAct } from '../../ui/act.ts';
import { Facts } from '../../ui/facts.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';

interface CommandLineRequest {
  readonly host: string;
  readonly origin: string;
  readonly isElsewhere: boolean;
}

/** Asks whether a command line may sign in as this person. Its name is its own word, so it stands in quotation marks. */
export function CommandLine({ id, of: { host, origin, isElsewhere } }: { id: string; of: CommandLineRequest }) {
  const decided = useSignal<'Allowed' | 'Denied' | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  const params = { path: { id } };
  const username = me.value?.username;

  const decide = (step: 'sign-in' | 'deny', decision: 'Allowed' | 'Denied') =>
    act(async () => {
      const written = await answer(api.POST(`/api/v1/oauth/requests/{id}/${step}`, { params }));
      if ('workflow_id' in written) return;
      // The command line on this machine waits for its browser; one elsewhere goes on by itself.
      if (written.url === undefined) decided.value = decision;
      else location.assign(written.url);
    });

  if (decided.value) {
    return (
      <p class="notice" role="status">
        <strong>{decided.value}.</strong> Go back to the command line.
      </p>
    );
  }
  return (
    <form
      class="panel stack"
      onSubmit={(event) => {
        event.preventDefault();
        void decide('sign-in', 'Allowed');
      }}
    >
      <h2 class="break">
        Sign in the command line on “{host}” as {username}?
      </h2>
      <p class="dim">
        It may do all that you may. Its session is listed under Settings, My account, and lasts no longer than this one.{' '}
        {me.value?.issuer === undefined
          ? 'It goes on when you sign out here; you can end it there.'
          : 'It ends when you sign out here.'}
      </p>
      <p class="notice warn">
        {isElsewhere
          ? 'Only allow it if you read the code in a terminal of your own. Who sent you a code gets to be you.'
          : 'Only allow it if you have just run mesh login yourself.'}
      </p>
      <Facts
        facts={[
          ['Claims to be', `“${host}”. Nobody checked this name.`],
          ['Asks from', <strong key="origin">{origin}</strong>],
        ]}
      />
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="submit" class="primary" disabled={isActing.value}>
          Allow
        </button>
        <button type="button" disabled={isActing.value} onClick={() => void decide('deny', 'Denied')}>
          Deny
        </button>
      </div>
    </form>
  );
}
