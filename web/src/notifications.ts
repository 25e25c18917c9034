import { computed, effect, signal } from '@preact/signals';
import { waiting, waitingCount } from './api/waiting.ts';

const KEY = 'mesh.notifies';
const isWanted = signal(localStorage.getItem(KEY) !== null);
const permission = signal(globalThis.Notification?.permission);

/** Browsers notify on https and on localhost alone. */
export const canNotify = globalThis.isSecureContext && permission.peek() !== undefined;

export const notifies = computed(() => isWanted.value && permission.value === 'granted');

/** Turns notifications of what waits on or off, and asks the person the first time. */
export async function toggleNotifications(): Promise<void> {
  isWanted.value = !notifies.peek();
  if (isWanted.value) localStorage.setItem(KEY, 'yes');
  else localStorage.removeItem(KEY);
  if (isWanted.value && permission.peek() === 'default') permission.value = await Notification.requestPermission();
}

/** Tells of more that waits while another window is in front. */
export function followWaiting(): void {
  let before: { readonly workspace: string; readonly count: number } | undefined;
  effect(() => {
    const { workspace } = waiting.value.value ?? {};
    const count = waitingCount.value;
    if (workspace === undefined) return;
    const isMore = before?.workspace === workspace && count > before.count;
    before = { workspace, count };
    if (isMore && document.hidden && notifies.peek()) {
      const text = count === 1 ? 'One request is waiting' : `${count} requests are waiting`;
      new Notification('Mesh', { body: `${text} for approval.`, tag: 'mesh-waiting' });
    }
  });
}
