import { useSignal } from '@preact/signals';
import { api } from '../../../api/client.ts';
import { session } from '../../../api/session.ts';
import type { User } from '../../../api/types.ts';
import { may } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { goTo, linkTo } from '../../../route/route.ts';
import { settings } from '../../../texts/settings.ts';
import { texts } from '../../../texts/texts.ts';
import { useAct } from '../../../ui/act.ts';
import { Confirm } from '../../../ui/dialog.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { CheckField, TextField } from '../../../ui/field.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { Time } from '../../../ui/time.tsx';

const words = settings.people;

export function AccountState({ user: { disabled, lockedUntil, passwordChangeRequired } }: { user: User }) {
  if (disabled) return <span class="tag danger">✕ {words.disabled}</span>;
  if (lockedUntil) return <span class="tag warn">▲ {words.locked}</span>;
  if (passwordChangeRequired) return <span class="tag warn">○ {words.mustChange}</span>;
  return <span class="tag ok">● {words.active}</span>;
}

export function AccountDetails({ user }: { user: User }) {
  const { username, displayName, role, lockedUntil, secondFactor, createdAt } = user;
  const isOwn = username === session.value?.username;
  return (
    <article class="panel stack" aria-label={username}>
      <div class="row">
        <h3 class="break">{username}</h3>
        <AccountState user={user} />
        <a class="push" href={linkTo('settings', ['people'])}>
          {texts.common.close}
        </a>
      </div>
      <Facts
        facts={[
          [words.display, displayName],
          [words.installationRole, words.roles[role]],
          [words.factor, secondFactor ? texts.common.yes : texts.common.no],
          [words.lockedUntil, lockedUntil && <Time at={lockedUntil} />],
          [words.created, <Time key="created" at={createdAt} />],
        ]}
      />
      {isOwn && (
        <p>
          <a href={linkTo('settings', ['account'])}>{words.yours}</a>
        </p>
      )}
      {!isOwn && may('users:write') && <Actions user={user} />}
    </article>
  );
}

type Asked = 'role' | 'disable' | 'factor' | 'delete' | undefined;

function Actions({ user: { username, role, disabled, lockedUntil, secondFactor } }: { user: User }) {
  const asked = useSignal<Asked>(undefined);
  const takesOver = useSignal(false);
  const { isActing, problem, act } = useAct();
  const own = session.value?.username;
  const params = { path: { username } };
  const path = '/api/v1/users/{username}';
  const done = words.changed(username);
  const change = (body: { role?: User['role']; disabled?: boolean }) => write(api.PATCH(path, { params, body }), done);
  const other = role === 'user' ? 'platform_admin' : 'user';
  const dialogs = {
    role: {
      title: words.roleTitle(username, words.roles[other]),
      why: words.roleWhy,
      act: role === 'user' ? words.makeAdmin : words.makeUser,
      run: () => change({ role: other }),
    },
    disable: {
      title: words.disableTitle(username),
      why: words.disableWhy,
      act: words.disable,
      name: username,
      run: () => change({ disabled: true }),
    },
    factor: {
      title: words.resetTitle(username),
      why: words.resetWhy,
      act: words.resetFactor,
      run: () => write(api.DELETE('/api/v1/users/{username}/otp', { params }), done),
    },
    delete: {
      title: words.deleteTitle(username),
      why: words.deleteWhy,
      act: words.delete,
      name: username,
      run: async () => {
        const body = takesOver.value && own ? { successor: own } : {};
        await write(api.DELETE(path, { params, body }), words.deleted(username));
        goTo(linkTo('settings', ['people']));
      },
    },
  };
  const offered = [
    'role' as const,
    ...(disabled ? [] : ['disable' as const]),
    ...(secondFactor ? ['factor' as const] : []),
    'delete' as const,
  ];
  const { why, ...dialog } = asked.value ? dialogs[asked.value] : { why: '' };
  return (
    <>
      <ProblemNotice problem={problem.value} />
      <div class="row">
        {disabled && (
          <button type="button" disabled={isActing.value} onClick={() => act(() => change({ disabled: false }))}>
            {words.enable}
          </button>
        )}
        {lockedUntil && (
          <button
            type="button"
            disabled={isActing.value}
            onClick={() => act(() => write(api.POST('/api/v1/users/{username}/unlock', { params }), done))}
          >
            {words.unlock}
          </button>
        )}
        {offered.map((name) => (
          <button key={name} type="button" class={name === 'role' ? '' : 'danger'} onClick={() => (asked.value = name)}>
            {dialogs[name].act}
          </button>
        ))}
      </div>
      <InitialPassword username={username} />
      {'run' in dialog && (
        <Confirm key={asked.value} {...dialog} close={() => (asked.value = undefined)}>
          <p>{why}</p>
          {asked.value === 'delete' && <CheckField label={words.takeOverAll} value={takesOver} />}
        </Confirm>
      )}
    </>
  );
}

function InitialPassword({ username }: { username: string }) {
  const password = useSignal('');
  const { isActing, problem, act } = useAct();
  const submit = async (event: Event) => {
    event.preventDefault();
    const call = api.PATCH('/api/v1/users/{username}', {
      params: { path: { username } },
      body: { password: password.value },
    });
    if (await act(() => write(call, words.changed(username)))) password.value = '';
  };
  return (
    <details>
      <summary>{words.password}</summary>
      <form class="stack narrow" method="post" onSubmit={submit}>
        <TextField
          label={words.initial}
          hint={`${words.initialHint} ${words.roleWhy}`}
          type="password"
          value={password}
          required
          autocomplete="new-password"
        />
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" disabled={isActing.value}>
            {words.passwordAct}
          </button>
        </div>
      </form>
    </details>
  );
}
