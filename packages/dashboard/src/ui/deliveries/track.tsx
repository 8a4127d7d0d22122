import { Box, Button, VisuallyHidden } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import { type ReactElement, type ReactNode, useState } from "react";
import { type Line, type Station, waitWord } from "../../lib/attempts/track.ts";
import { shortTime, timeOfDay } from "../../lib/text/time.ts";
import { useNow } from "../hooks/use-now.ts";
import { Outcome } from "./outcome.tsx";
import classes from "./track.module.css";

interface StopProps {
	readonly className: string | undefined;
	readonly children: ReactNode;
	readonly "aria-current"?: "true";
}

interface TrackProps {
	lines: readonly Line[];
	/** The selected attempt. */
	selected: string;
	/** Wraps a station in a link to its attempt. */
	link: (attemptId: string, props: StopProps) => ReactElement;
}

/** Stations in a row at most, so that their words have room. track.module.css repeats it. */
const IN_ROW = 10;
/** How many series are shown at first: the first and the newest ones. */
const NEWEST_SHOWN = 3;

/** A delivery's progress, large: a line of stations per series, with the delays between them. */
export function Track({ lines, selected, link }: TrackProps) {
	const [all, setAll] = useState(false);
	const isShown = (line: Line, index: number) =>
		all ||
		index === 0 ||
		index >= lines.length - NEWEST_SHOWN ||
		line.stations.some(({ attemptId }) => attemptId === selected);
	const hidden = lines.filter((line, index) => !isShown(line, index)).length;
	return (
		<div className={classes.track}>
			{lines.filter(isShown).map((line) => (
				<TrackLine key={line.replay} line={line} selected={selected} link={link} />
			))}
			{hidden === 0 ? null : (
				<div>
					<Button variant="subtle" size="compact-sm" onClick={() => setAll(true)}>
						Show {hidden} more {hidden === 1 ? "replay" : "replays"}
					</Button>
				</div>
			)}
		</div>
	);
}

function TrackLine({ line, selected, link }: Pick<TrackProps, "selected" | "link"> & { line: Line }) {
	const { replay, stations, total, end } = line;
	const name = replay === 0 ? "Original delivery" : `Replay ${replay}`;
	const began = stations.find(({ at }) => at !== null)?.at ?? null;
	const now = useNow(0);
	return (
		<section aria-label={name}>
			<p className={classes.name}>
				<strong>{name}</strong>
				{began === null ? null : ` · ${shortTime(began, now)}`}
			</p>
			<Box component="ol" className={classes.stations} __vars={{ "--stations": String(Math.min(total, IN_ROW)) }}>
				{stations.map((station) => (
					<li
						key={station.number}
						className={classes.station}
						data-state={station.state}
						data-first={station.number === 1 || undefined}
					>
						{station.wait === null ? null : (
							<span className={classes.wait} aria-hidden>
								{waitWord(station.wait)}
							</span>
						)}
						<Stop station={station} selected={selected} link={link} />
					</li>
				))}
				{end === "failed" ? (
					<li className={classes.end}>
						<Outcome kind="failed" />
					</li>
				) : null}
			</Box>
		</section>
	);
}

function Stop({ station, selected, link }: Pick<TrackProps, "selected" | "link"> & { station: Station }) {
	const { attemptId, spoken } = station;
	const face = (
		<>
			<VisuallyHidden>{spoken}</VisuallyHidden>
			<span className={classes.mark} aria-hidden>
				<Mark station={station} />
			</span>
			<span className={classes.response} aria-hidden>
				{responseOf(station)}
			</span>
			<span className={classes.at} aria-hidden>
				{clockOf(station)}
			</span>
		</>
	);
	if (attemptId === null) return <span className={classes.stop}>{face}</span>;
	return link(attemptId, {
		className: classes.stop,
		children: face,
		...(attemptId === selected ? { "aria-current": "true" as const } : {}),
	});
}

function Mark({ station: { state, number } }: { station: Station }) {
	if (state === "delivered") return <IconCheck size={15} stroke={2.6} />;
	if (state === "failed") return <IconX size={15} stroke={2.6} />;
	return number;
}

function responseOf({ state, response, at }: Station): string {
	if (response !== null) return response;
	if (state === "current") return at === null ? "in progress" : "next";
	return state === "passed" ? "not stored" : "";
}

function clockOf({ state, at, day, estimated }: Station): string {
	if (at === null) return "";
	const time = estimated ? `~${timeOfDay(at)}` : timeOfDay(at, { seconds: state !== "coming" });
	return day === null ? time : `${day}, ${time}`;
}
