/** `plain` is Node's own means alone; `auto` those of the operating system too, where they are there. */
export const PLATFORM_CHOICES = ['auto', 'plain'] as const;
export type PlatformChoice = (typeof PLATFORM_CHOICES)[number];

/** The choice of this process and its threads. */
export const CHOSEN: PlatformChoice = process.env['MESH_PLATFORM'] === 'plain' ? 'plain' : 'auto';
