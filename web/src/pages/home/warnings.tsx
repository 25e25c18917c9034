import { useSignal } from '@preact/signals';
import type { Overview } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { Icon } from '../../design/icon.tsx';
import { linkTo } from '../../route/route.ts';

type Warning = Overview['warnings'][number];

/** Messages that the person put away in this tab. */
const KEY = 'mesh-hidden-warnings';
const LINKS = {
  'open-network': 'Write a policy',
  'approval-ended': 'Approval',
  'first-password': 'People',
  'bus-exposure': 'System',
} as const satisfies Record<Warning['code'], string>;
const SETTINGS_PAGE = { 'approval-ended': 'workspace', 'first-password': 'people', 'bus-exposure': 'system' } as const;

/** Warnings of what is unsafe, a line each. One that is put away stays so while the tab is open. */
export function Warnings({ warnings }: { warnings: readonly Warning[] }) {
  const hidden = useSignal<readonly string[]>(JSON.parse(sessionStorage.getItem(KEY) ?? '[]'));
  const shown = warnings.filter(({ message }) => !hidden.value.includes(message));
  if (shown.length === 0) return null;
  const hide = (message: string) => {
    hidden.value = [...hidden.value, message];
    sessionStorage.setItem(KEY, JSON.stringify(hidden.value));
  };
  return (
    <section class="stack-small" aria-label="Warnings">
      {shown.map(({ code, message, remedy }) => (
        <div key={message} class="notice warn one-line">
          <Icon name="triangle-alert" />
          <span class="break">
            <strong>{message}</strong> {remedy}
          </span>
          <WarningLink code={code} />
          <button type="button" class="quiet push" aria-label={`Hide: ${message}`} onClick={() => hide(message)}>
            Hide
          </button>
        </div>
      ))}
    </section>
  );
}

/** Where somebody who may see to it does. */
function WarningLink({ code }: { code: Warning['code'] }) {
  if (code === 'open-network')
    return may('network:write') ? <a href={linkTo('policies', [], { view: 'new' })}>{LINKS[code]}</a> : null;
  if (!may('members:write')) return null;
  return <a href={linkTo('settings', [SETTINGS_PAGE[code]])}>{LINKS[code]}</a>;
}
