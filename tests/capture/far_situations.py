"""Sessions of other trades: data, games, learning machines, networks, phones, and what a person adds on the way."""

from __future__ import annotations

from tests.capture.sessions import edit, read, run, says, search, session, user
from tests.capture.situations import Situation, fact

FAR = (
    Situation(
        "machine learning: loss becomes NaN",
        session(
            user("training goes to nan after about 2k steps since we switched to bf16"),
            run("python train.py --steps 2500", "step 2113 loss nan"),
            says("Let me check the gradients first."),
            run("python train.py --detect-anomaly", "LogSoftmaxBackward returned nan values"),
            read("model/loss.py"),
            says(
                "The masked positions are filled with `-1e9`, and in the label smoothing branch that value is "
                "multiplied by the smoothing factor before `log_softmax`. In bf16 the sum overflows to `-inf`, and "
                "`-inf * 0` is NaN. fp32 had enough range to hide it."
            ),
            edit("model/loss.py", "masked_fill(-1e4)"),
            run("python train.py --steps 6000", "step 6000 loss 1.92"),
            user("nice, runs through now"),
            says("Good."),
        ),
        (fact("bf16|-1e9", "overflow|-inf|nan", "mask|smoothing"),),
        most=2,
    ),
    Situation(
        "network: large packets vanish in the tunnel",
        session(
            user("ssh to the new cluster connects and then freezes on ls -la. small commands work"),
            run("ping -M do -s 1472 10.8.0.5", "message too long, mtu=1420"),
            run("ip link show wg0", "mtu 1420"),
            run("tcpdump -ni eth0 icmp", "ICMP 10.8.0.5 unreachable - need to frag"),
            says(
                "It's path MTU discovery. The WireGuard link has an MTU of 1420, but the security group drops ICMP "
                '"fragmentation needed", so the server never learns to send smaller packets. Small replies fit, '
                "long listings "
                "don't. Clamping MSS on the gateway or allowing ICMP type 3 solves it."
            ),
        ),
        (fact("mtu|icmp", "1420|fragment", "drop|security group|smaller"),),
        most=1,
    ),
    Situation(
        "gradle: configuration cache hides a variable",
        session(
            user("the version name in the apk is stale, it shows the one from last week"),
            read("app/build.gradle.kts"),
            run("./gradlew assembleRelease --info", "Reusing configuration cache."),
            says(
                '`versionName` is computed with `"git describe".execute()` at configuration time. The '
                "configuration cache stores the result and isn't invalidated by new commits, because Gradle doesn't "
                "know about the process call."
            ),
            edit("app/build.gradle.kts", "providers.exec"),
            run("./gradlew assembleRelease", "BUILD SUCCESSFUL"),
            says(
                "It uses `providers.exec` now, which Gradle tracks as an input, so the version follows the tag again."
            ),
        ),
        (fact("versionname|git describe", "configuration cache", "invalidat|providers.exec|commit"),),
        most=2,
    ),
    Situation(
        "game: physics depends on the frame rate",
        session(
            user("on 144hz monitors players jump higher, any clue?"),
            search("velocity.y", "Player.cs"),
            read("Assets/Player.cs"),
            says(
                "`Jump()` adds the impulse in `Update()` while the button is held, so at 144 Hz it is applied more "
                "often within the 0.1 s window than at 60 Hz. It belongs in `FixedUpdate()`."
            ),
            user("yep that's it. please move it"),
            edit("Assets/Player.cs", "FixedUpdate"),
            says("Moved to `FixedUpdate()`."),
        ),
        (fact("jump", "update()", "144|60|often"),),
        most=2,
        statuses=("confirmed", "observed"),
    ),
    Situation(
        "spark: skew by a null key",
        session(
            user("the nightly join takes 5 hours, one task never ends"),
            run("spark-submit profile.py", "partition 17: 412M rows, median 1.1M"),
            says(
                "One partition has 412 million rows against a median of 1.1 million: all rows with `customer_id IS "
                "NULL` hash to the same partition. They can't match anything in an inner join anyway, so filtering "
                "them before the join removes the skew."
            ),
            edit("jobs/join.py", "where customer_id is not null"),
            run("spark-submit join.py", "finished in 22 min"),
            says("The join finishes in 22 minutes instead of 5 hours."),
        ),
        (fact("null", "partition|skew", "customer_id|412|22 min"),),
        most=2,
    ),
    Situation(
        "user teaches about deployment order",
        session(
            user("remove the column legacy_code from the model and the database"),
            edit("app/models.py", "-legacy_code"),
            edit("migrations/0051.py", "DROP COLUMN"),
            says("`legacy_code` is gone from the model and `0051` drops the column."),
            user(
                "these have to be two releases. during a rolling deploy the old pods still select legacy_code, so "
                "dropping it at once breaks them"
            ),
            run("git rm migrations/0051.py", ""),
            says("I removed the migration; the column can be dropped in the next release."),
        ),
        (fact("two releases|rolling deploy", "old pods|legacy_code|breaks"),),
        most=1,
        statuses=("confirmed",),
    ),
    Situation(
        "wordpress: hook priority",
        session(
            user("our shipping filter is ignored on checkout"),
            search("woocommerce_package_rates", "plugins/ship/main.php, plugins/germanized/rates.php"),
            read("plugins/germanized/rates.php"),
            says(
                "Another plugin wins: `germanized` registers on `woocommerce_package_rates` with priority 99 and "
                "returns a fresh array instead of changing the one it gets. Ours runs at 10, before it, so its "
                "result is thrown away. It must run later than 99."
            ),
            edit("plugins/ship/main.php", "add_filter(..., 100)"),
            says("Registered at priority 100."),
            user("works, thx"),
            says("You're welcome!"),
        ),
        (fact("priority", "99|100|later", "woocommerce_package_rates|germanized"),),
        most=2,
    ),
    Situation(
        "the person reports an experiment of their own",
        session(
            user("our lua script in redis is slow on prod but not on staging"),
            read("scripts/window.lua"),
            says("The script is O(n) in the size of the window. Do the window sizes differ between the two?"),
            user(
                "i measured it: prod has 40k entries per window and staging 200. with ZREMRANGEBYSCORE on every "
                "write instead of on read prod drops to 0.3 ms"
            ),
            edit("scripts/window.lua", "ZREMRANGEBYSCORE"),
            says("The script trims the window on every write now."),
        ),
        (fact("zremrangebyscore", "0.3 ms|40k", "write|window"),),
        most=2,
    ),
)
